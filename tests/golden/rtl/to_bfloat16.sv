// float32 to bfloat16, ties to even; NaN is quiet and keeps its sign and leading payload bits.
module to_bfloat16 (
  input  [31:0] x,
  output [15:0] y
);
  wire is_nan = (&x[30:23]) && (|x[22:0]);
  wire round_up = x[15] && ((|x[14:0]) || x[16]);
  assign y = is_nan ? (x[31:16] | 16'h0040) : (x[31:16] + {15'b0, round_up});
endmodule
