"""What becomes of the graph: Cast nodes where weights are read, everything else as it was."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx_models import all_bodies, initialisers, with_rounded_weights

import lutcast
from lutcast.onnx.types import TENSOR_TYPES
from lutcast.weights import Report, WeightsError, convert

F = TensorProto.FLOAT
X = np.random.default_rng(3).normal(0, 1, (2, 4)).astype(np.float32)
W = np.random.default_rng(4).normal(0, 1, (4, 4)).astype(np.float32)

FORMATS = {
    "float16": (np.float16, 13),
    "bfloat16": (ml_dtypes.bfloat16, 13),
    "float64": (np.float64, 13),
    "float8_e4m3fn": (ml_dtypes.float8_e4m3fn, 19),
    "float8_e4m3fnuz": (ml_dtypes.float8_e4m3fnuz, 19),
    "float8_e5m2": (ml_dtypes.float8_e5m2, 19),
    "float8_e5m2fnuz": (ml_dtypes.float8_e5m2fnuz, 19),
    "float4_e2m1fn": (ml_dtypes.float4_e2m1fn, 23),
    "float6_e2m3fn": (ml_dtypes.float6_e2m3fn, 28),
    "float6_e3m2fn": (ml_dtypes.float6_e3m2fn, 28),
}


def named(name: str, values: Any = W) -> TensorProto:
    return numpy_helper.from_array(np.asarray(values), name)


def node(op: str, inputs: Sequence[str], output: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, inputs, [output], name=f"the {op} of {output}", **attributes)


def constant(name: str, values: Any) -> onnx.NodeProto:
    return node("Constant", [], name, value=named(f"value of {name}", values))


def floats(*names: str) -> list[onnx.ValueInfoProto]:
    return [helper.make_tensor_value_info(name, F, [None, None]) for name in names]


def subgraph(nodes: Sequence[onnx.NodeProto], output: str, tensors: Sequence[TensorProto] = ()) -> onnx.GraphProto:
    return helper.make_graph(nodes, f"graph of {output}", [], floats(output), tensors)


def model_of(
    nodes: Sequence[onnx.NodeProto],
    tensors: Sequence[TensorProto] = (),
    *,
    opset: int = 21,
    ir_version: int = 10,
    outputs: Sequence[str] = ("y",),
    functions: Sequence[onnx.FunctionProto] = (),
    inputs: Sequence[onnx.ValueInfoProto] = (),
    **graph: Any,
) -> onnx.ModelProto:
    x = helper.make_tensor_value_info("x", F, [2, 4])
    body = helper.make_graph(nodes, "g", [x, *inputs], floats(*outputs), tensors, **graph)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 3), helper.make_opsetid("own", 1)]
    return helper.make_model(body, opset_imports=opsets, ir_version=ir_version, functions=functions)


def converted(model: onnx.ModelProto, folder: Path, to: str, **options: Any) -> tuple[onnx.ModelProto, Report]:
    """Convert and check a model."""
    source, destination = folder / "source.onnx", folder / "out.onnx"
    source.write_bytes(model.SerializeToString())
    report = convert(source, destination, to, **options)
    assert source.read_bytes() == model.SerializeToString()
    after = onnx.load(destination)
    onnx.checker.check_model(after, full_check=True)
    return after, report


def run(model: onnx.ModelProto, **inputs: Any) -> list[NDArray[Any]]:
    return ReferenceEvaluator(model).run(None, {"x": X, **inputs})


def assert_only_rounded(
    before: onnx.ModelProto, after: onnx.ModelProto, dtype: Any, kept: Collection[str] = ()
) -> None:
    """Compare with the model whose weights NumPy and ml_dtypes rounded, and make sure that rounding shows."""
    expected = run(with_rounded_weights(before, dtype, kept))
    assert [y.tobytes() for y in run(after)] == [y.tobytes() for y in expected]
    if np.dtype(dtype) != np.float64:
        assert [y.tobytes() for y in run(before)] != [y.tobytes() for y in expected]


def casts(body: Any) -> list[tuple[str, str, int]]:
    return [(n.input[0], n.output[0], n.attribute[0].i) for n in body.node if n.op_type == "Cast"]


NESTED = model_of(
    [
        node("MatMul", ["x", "w"], "a"),
        constant("c", W[0]),
        node("Add", ["a", "c"], "b"),
        constant("small", np.float32(1e-9)),
        constant("yes", np.array(True)),
        node(
            "If",
            ["yes"],
            "d",
            then_branch=subgraph(
                [
                    constant("c in", W[1]),
                    node("MatMul", ["b", "w"], "t1"),  # w of the graph around
                    node("Add", ["t1", "c in"], "t2"),
                    node("MatMul", ["t2", "w in"], "t"),
                ],
                "t",
                [named("w in", W.T)],
            ),
            else_branch=subgraph([node("Add", ["b", "c"], "e")], "e"),
        ),
        node("Add", ["d", "small"], "f"),
        helper.make_node("Twice", ["f"], ["y"], name="call", domain="own"),
    ],
    [named("w"), named("unread", W[0]), named("count", np.int64([3]))],
    functions=[
        helper.make_function(
            "own",
            "Twice",
            ["x"],
            ["y"],
            [constant("two", W[2]), node("Mul", ["x", "two"], "y")],
            [helper.make_opsetid("", 21)],
        )
    ],
)


@pytest.mark.parametrize(("to", "dtype", "opset"), [(to, *rest) for to, rest in FORMATS.items()])
def test_results_are_those_of_rounded_weights(to: str, dtype: Any, opset: int, tmp_path: Path) -> None:
    before = onnx.ModelProto.FromString(NESTED.SerializeToString())
    for imports in (before.opset_import, before.functions[0].opset_import):
        imports[0].version = opset
    in_nodes = {"c", "c in", "two"}
    kept = in_nodes if to.startswith("float6") else set()  # which Constant has in no version
    after, report = converted(before, tmp_path, to, exclude=sorted(kept))
    assert_only_rounded(before, after, dtype, kept)
    names = {t.name for t in report.tensors if t.destination == to} | kept
    assert names == {"w", "unread", "w in", *in_nodes}
    assert {t.name for t in report.tensors} == names | {"count", "small", "yes"}


def test_casts_and_their_places(tmp_path: Path) -> None:
    after, report = converted(NESTED, tmp_path, "float16")
    main, other, then, function = all_bodies(after)  # the attributes of a node are sorted
    assert casts(main) == [("w", "w_cast", F), ("c", "c_cast", F)]  # none for what is unread
    assert casts(then) == [("w in", "w in_cast", F), ("c in", "c in_cast", F)]
    assert casts(other) == []
    assert casts(function) == [("two", "two_cast", F)]
    assert other.node[0].input[:] == ["b", "c_cast"]
    assert then.node[2].op_type == "Cast"  # behind its Constant
    assert {proto.data_type for proto in initialisers(main).values()} == {TensorProto.FLOAT16, TensorProto.INT64}
    assert [n.name for n in main.node if n.op_type == "Cast"] == ["w_cast", "c_cast"]
    assert report.notes == ("copied as constants of one element: 1",)


def test_all_else_is_kept(tmp_path: Path) -> None:
    before = onnx.ModelProto.FromString(NESTED.SerializeToString())
    before.producer_name, before.doc_string, before.model_version = "me", "about", 5
    before.metadata_props.add(key="k", value="v")
    before.graph.metadata_props.add(key="g", value="w")
    before.graph.value_info.extend([*floats("a"), helper.make_tensor_value_info("w", F, [4, 4])])
    after, _ = converted(before, tmp_path, "bfloat16")
    assert after.graph.value_info[1].type.tensor_type.elem_type == TensorProto.BFLOAT16
    after.graph.value_info[1].CopyFrom(before.graph.value_info[1])
    # Without Casts, data and the names of what a Cast made, it is the model before.
    for ours, theirs in reversed([*zip(all_bodies(after), all_bodies(before), strict=True)]):
        nodes = [n for n in ours.node if n.op_type != "Cast"]
        for place, (n, original) in enumerate(zip(nodes, theirs.node, strict=True)):
            n.input[:] = [name.removesuffix("_cast") for name in n.input]
            if n.op_type == "Constant":
                n.attribute[0].t.CopyFrom(original.attribute[0].t)
            nodes[place] = onnx.NodeProto.FromString(n.SerializeToString())
        del ours.node[:]
        ours.node.extend(nodes)
        for name, proto in initialisers(ours).items():
            proto.CopyFrom(initialisers(theirs)[name])
    assert after == before


def test_output_is_deterministic(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        converted(NESTED, tmp_path / name, "float16")
    assert (tmp_path / "one/out.onnx").read_bytes() == (tmp_path / "two/out.onnx").read_bytes()


def test_dry_run_reports_the_same(tmp_path: Path) -> None:
    _, wet = converted(NESTED, tmp_path, "float8_e4m3fn")
    dry = convert(tmp_path / "source.onnx", tmp_path / "dry.onnx", "float8_e4m3fn", dry_run=True)
    assert not (tmp_path / "dry.onnx").exists()
    assert (str(dry.tensors), dry.notes) == (str(wet.tensors), wet.notes)


def test_names_that_are_taken(tmp_path: Path) -> None:
    before = model_of(
        [
            node("MatMul", ["x", "w"], "w_cast"),
            helper.make_node("Identity", ["w_cast"], ["z"], name="w_cast_1"),
            node("Add", ["z", "w_cast_2"], "y"),
        ],
        [named("w"), named("w_cast_2", W[0])],
    )
    after, _ = converted(before, tmp_path, "float16")
    assert casts(after.graph) == [("w", "w_cast_3", F), ("w_cast_2", "w_cast_2_cast", F)]
    assert_only_rounded(before, after, np.float16)


def test_same_name_in_two_branches(tmp_path: Path) -> None:
    def branch(output: str, values: Any) -> onnx.GraphProto:
        return subgraph([node("MatMul", ["x", "w"], output)], output, [named("w", values)])

    before = model_of(
        [
            constant("yes", np.array(True)),
            node("If", ["yes"], "y", then_branch=branch("t", W), else_branch=branch("e", -W)),
        ]
    )
    after, report = converted(before, tmp_path, "float16", exclude=["w"])
    assert [(t.name, t.destination) for t in report.tensors] == [
        ("yes", "bool"),
        ("w", "float32"),
        ("w#2", "float16"),
    ]
    assert [len(casts(body)) for body in all_bodies(after)] == [0, 0, 1]
    assert_only_rounded(before, after, np.float16)


def test_a_subgraph_with_a_name_of_its_own(tmp_path: Path) -> None:
    """The checker allows no such names, but runtimes met them: the inner value is read as it is."""
    inner = subgraph([node("MatMul", ["x", "w"], "t")], "t", [named("w", W.T)])
    before = model_of(
        [
            constant("yes", np.array(True)),
            node("If", ["yes"], "a", then_branch=inner, else_branch=subgraph([node("Neg", ["x"], "e")], "e")),
            node("MatMul", ["a", "w"], "y"),
        ],
        [named("w")],
    )
    (tmp_path / "source.onnx").write_bytes(before.SerializeToString())
    convert(tmp_path / "source.onnx", tmp_path / "out.onnx", "float16")
    after = onnx.load(tmp_path / "out.onnx")
    assert_only_rounded(before, after, np.float16)
    main, _, then = all_bodies(after)
    assert [casts(main)[0][0], casts(then)[0][0]] == ["w", "w"]


def test_float64_and_float16_weights(tmp_path: Path) -> None:
    before = model_of(
        [
            node("Cast", ["x"], "wide", to=TensorProto.DOUBLE),
            node("Mul", ["wide", "d"], "m"),
            node("Cast", ["m"], "half", to=TensorProto.FLOAT16),
            node("Mul", ["half", "h"], "n"),
            node("Cast", ["n"], "y", to=F),
        ],
        [named("d", W[0].astype(np.float64) / 3), named("h", W[1].astype(np.float16))],
    )
    after, _ = converted(before, tmp_path, "float8_e4m3fn")
    assert [cast[2] for cast in casts(after.graph)[:2]] == [TensorProto.DOUBLE, TensorProto.FLOAT16]
    assert_only_rounded(before, after, ml_dtypes.float8_e4m3fn)


def test_the_same_format_needs_no_cast(tmp_path: Path) -> None:
    after, report = converted(NESTED, tmp_path, "float32")
    assert after == NESTED
    assert sum(t.audit is not None for t in report.tensors) == 6


def test_policy_and_selection(tmp_path: Path) -> None:
    before = model_of([node("MatMul", ["x", "w"], "a"), node("Add", ["a", "b"], "y")], [named("w"), named("b", W[0])])
    after, _ = converted(before, tmp_path, "float16", include=["b"], rounding="toward_zero")
    w, b = (numpy_helper.to_array(proto) for proto in after.graph.initializer)
    assert (w.dtype, b.dtype) == (np.float32, np.float16)
    nearest = W[0].astype(np.float16)
    assert (np.abs(b.astype(np.float32)) <= np.abs(W[0])).all()
    assert (b != nearest).any()
    assert casts(after.graph) == [("b", "b_cast", F)]


def test_inputs_and_outputs_keep_their_types(tmp_path: Path) -> None:
    before = model_of(
        [node("MatMul", ["x", "default"], "a"), node("MatMul", ["a", "w"], "y"), node("Add", ["y", "shown"], "z")],
        [named("w"), named("default"), named("shown", W[:2])],
        inputs=[helper.make_tensor_value_info("default", F, [4, 4])],
        outputs=["z", "shown"],
    )
    after, report = converted(before, tmp_path, "float16")
    assert [proto.data_type for proto in after.graph.initializer] == [TensorProto.FLOAT16, F, F]
    assert report.notes == ("copied as inputs or outputs of a graph: 2",)
    assert_only_rounded(before, after, np.float16, kept=["default", "shown"])
    assert run(after, default=-W)[0].tobytes() != run(after)[0].tobytes()


def test_scales_and_sizes_stay_exact(tmp_path: Path) -> None:
    before = model_of(
        [
            node("QuantizeLinear", ["w", "scale", "zero"], "q"),
            node("DequantizeLinear", ["q", "scale", "zero"], "w2"),
            node("MatMul", ["x", "w2"], "a"),
            node("Resize", ["a", "", "sizes"], "y", mode="nearest"),
        ],
        [named("w"), named("scale", np.float32(0.0123)), named("zero", np.int8(0)), named("sizes", [1.1, 2.0])],
    )
    before.graph.initializer[3].CopyFrom(named("sizes", np.float32([1.1, 2])))
    after, report = converted(before, tmp_path, "float8_e5m2")
    assert [t.destination for t in report.tensors] == ["float8_e5m2", "float32", "int8", "float32"]
    assert report.notes == ("copied as scales, codes or sizes that must stay exact: 2",)
    assert_only_rounded(before, after, ml_dtypes.float8_e5m2, kept=["scale", "sizes"])


def test_scales_of_an_annotation_stay_exact(tmp_path: Path) -> None:
    before = model_of([node("MatMul", ["x", "w"], "y")], [named("w"), named("s", np.float32([0.1]))])
    note = before.graph.quantization_annotation.add(tensor_name="w")
    note.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="s")
    _, report = converted(before, tmp_path, "float16")
    assert [t.destination for t in report.tensors] == ["float16", "float32"]


@pytest.mark.parametrize(
    ("op", "domain"), [("QLinearConv", ""), ("QGemm", "com.microsoft"), ("MatMulNBits", "com.microsoft")]
)
def test_scales_of_other_operators(op: str, domain: str, tmp_path: Path) -> None:
    before = model_of([node(op, ["x", "q", "scale"], "y", domain=domain)], [named("scale"), named("q", W.astype(int))])
    (tmp_path / "m.onnx").write_bytes(before.SerializeToString())
    report = convert(tmp_path / "m.onnx", tmp_path / "out.onnx", "float16")
    assert [t.destination for t in report.tensors] == ["float32", "int64"]


def test_sparse_tensors_and_other_attributes_are_copied(tmp_path: Path) -> None:
    sparse = helper.make_sparse_tensor(named("s", W[0, :2]), named("i", np.int64([0, 5])), [4, 4])
    before = model_of(
        [
            node("ConstantOfShape", ["shape"], "c", value=named("v", np.float32([0.1]))),
            node("Constant", [], "list", value_floats=[0.1, 0.2]),
            node("Add", ["x", "c"], "y"),
        ],
        [named("shape", np.int64([4]))],
        sparse_initializer=[sparse],
    )
    (tmp_path / "m.onnx").write_bytes(before.SerializeToString())
    convert(tmp_path / "m.onnx", tmp_path / "out.onnx", "float16")
    assert onnx.load(tmp_path / "out.onnx") == before


REFUSALS = {
    "float8": ("float8_e4m3fn", 18, "'w': Cast takes float8_e4m3fn from opset 19 on, not in opset 18"),
    "bfloat16": ("bfloat16", 12, "'w': Cast takes bfloat16 from opset 13 on, not in opset 12"),
    "int4": ("int4", 20, "'w': Cast takes int4 from opset 21 on, not in opset 20"),
    "float4": ("float4_e2m1fn", 22, "'w': Cast takes float4_e2m1fn from opset 23 on, not in opset 22"),
    "e8m0": ("float8_e8m0fnu", 23, "'w': Cast takes float8_e8m0fnu from opset 24 on, not in opset 23"),
    "int2": ("int2", 24, "'w': Cast takes int2 from opset 25 on, not in opset 24"),
    "float6": ("float6_e3m2fn", 27, "'w': Cast takes float6_e3m2fn from opset 28 on, not in opset 27"),
    "opset 5": ("float16", 5, "5 given, Cast begins at opset 6"),
}


@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize(("to", "opset", "message"), REFUSALS.values(), ids=REFUSALS)
def test_versions_are_never_changed(to: str, opset: int, message: str, dry_run: bool, tmp_path: Path) -> None:
    source = tmp_path / "m.onnx"
    source.write_bytes(model_of([node("MatMul", ["x", "w"], "y")], [named("w")], opset=opset).SerializeToString())
    with pytest.raises(WeightsError, match=rf"out\.onnx: .*{message}"):
        convert(source, tmp_path / "out.onnx", to, dry_run=dry_run)
    assert list(tmp_path.iterdir()) == [source]
    convert(source, tmp_path / "out.onnx", to, exclude=["w"])  # nothing to cast: nothing to refuse


@pytest.mark.parametrize("name", [name for name in TENSOR_TYPES if name not in ("FLOAT", "STRING")])
def test_constants_hold_what_onnx_says(name: str, tmp_path: Path) -> None:
    """Where not both Cast and Constant have a type, the conversion of a Constant is refused."""
    source, destination = tmp_path / "m.onnx", tmp_path / "out.onnx"
    for opset in range(6, onnx.defs.onnx_opset_version() + 1):
        schemas = [onnx.defs.get_schema(op, opset) for op in ("Cast", "Constant")]
        is_allowed = all(f"tensor({name.lower()})" in s.type_constraints[-1].allowed_type_strs for s in schemas)
        before = model_of([constant("c", W), node("MatMul", ["x", "c"], "y")], opset=opset)
        source.write_bytes(before.SerializeToString())
        if is_allowed:
            convert(source, destination, name)
        else:
            with pytest.raises(WeightsError, match=f"tensor 'c': .*{lutcast.get_format(name).name}"):
                convert(source, destination, name)


def test_no_operators_of_onnx(tmp_path: Path) -> None:
    before = model_of([node("Own", ["x", "w"], "y", domain="own")], [named("w")])
    del before.opset_import[0]
    (tmp_path / "m.onnx").write_bytes(before.SerializeToString())
    with pytest.raises(WeightsError, match="'w': Cast needs an import of ONNX's own operators, there is none"):
        convert(tmp_path / "m.onnx", tmp_path / "out.onnx", "float16")


def test_old_ir_versions(tmp_path: Path) -> None:
    before = model_of(
        [node("MatMul", ["x", "w"], "y")],
        [named("w")],
        ir_version=3,
        opset=9,
        inputs=[helper.make_tensor_value_info("w", F, [4, 4])],
    )
    onnx.checker.check_model(before)
    (tmp_path / "m.onnx").write_bytes(before.SerializeToString())
    with pytest.raises(WeightsError, match=r"IR version 3: its initialisers are inputs too.*IR version 4 is needed"):
        convert(tmp_path / "m.onnx", tmp_path / "out.onnx", "float16")


def test_old_ir_versions_without_float_initialisers(tmp_path: Path) -> None:
    before = model_of(
        [constant("c", W), node("MatMul", ["x", "c"], "a"), node("Reshape", ["a", "shape"], "y")],
        [named("shape", np.int64([4, 2]))],
        ir_version=3,
        opset=9,
        inputs=[helper.make_tensor_value_info("shape", TensorProto.INT64, [2])],
    )
    after, _ = converted(before, tmp_path, "float16")
    assert_only_rounded(before, after, np.float16)


def test_training_is_refused(tmp_path: Path) -> None:
    before = model_of([node("MatMul", ["x", "w"], "y")], [named("w")])
    before.training_info.add()
    (tmp_path / "m.onnx").write_bytes(before.SerializeToString())
    with pytest.raises(WeightsError, match="training_info are not supported"):
        convert(tmp_path / "m.onnx", tmp_path / "out.onnx", "float16")
