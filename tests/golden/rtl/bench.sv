// Drives the module with every source of the package; compares with its results and with the hex file.
module bench;
  import golden::*;
  reg [31:0] x;
  wire [15:0] y;
  reg [15:0] memory [0:COUNT-1];
  integer i, mismatches;
  to_bfloat16 device (.x(x), .y(y));
  initial begin
    $readmemh("golden.hex", memory);
    mismatches = 0;
    for (i = 0; i < COUNT; i = i + 1) begin
      x = source(i);
      #1;
      if (memory[i] !== result(i)) begin
        $display("FAIL: the files disagree at %0d", i);
        $finish;
      end
      if (y !== result(i)) mismatches = mismatches + 1;
    end
    if (mismatches == 0) $display("PASS: %0d vectors", COUNT);
    else $display("FAIL: %0d of %0d vectors", mismatches, COUNT);
    $finish;
  end
endmodule
