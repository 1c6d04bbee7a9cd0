"""Predictions of saved models: ours and tfx_bsl's give the same logs."""

from __future__ import annotations

import base64
import json
import pathlib
import pickle
from typing import Any
from unittest import mock

import apache_beam as beam
import numpy as np
import pytest
import tensorflow as tf
from apache_beam.metrics.metric import MetricsFilter
from apache_beam.ml.inference import base
from apache_beam.testing.util import assert_that, equal_to
from columnstone.compat.tfx_bsl.beam import run_inference
from columnstone.compat.tfx_bsl.public import beam as public_beam
from columnstone.compat.tfx_bsl.public.beam import run_inference as public
from columnstone.compat.tfx_bsl.public.proto import model_spec_pb2
from conftest import real
from googleapiclient import errors
from tensorflow_serving.apis import prediction_log_pb2

v1 = tf.compat.v1
hints = beam.typehints
Log = prediction_log_pb2.PredictionLog


def example(**values: float) -> tf.train.Example:
    made = tf.train.Example()
    for name, value in values.items():
        made.features.feature[name].float_list.value.append(value)
    return made


EXAMPLES = [example(x=0.75, y=0.25), example(x=0.5), example(x=2, y=4)]
BYTES = [one.SerializeToString() for one in EXAMPLES]
# One feature each: with more, a message that has gone through Beam may be written in another order
THROUGH_BEAM = [example(x=0.75), example(x=0.5), example(x=2)]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model of x and y with signatures of every kind, good and bad."""
    path = str(tmp_path_factory.mktemp("model") / "m")
    with v1.Graph().as_default(), v1.Session() as session:
        texts = v1.placeholder(tf.string, [None], name="texts")
        others = v1.placeholder(tf.string, [None], name="others")
        number = v1.placeholder(tf.float32, [None], name="number")
        column = v1.io.FixedLenFeature([1], tf.float32, default_value=0)
        read = v1.parse_example(texts, {"x": column, "y": column})
        x, y = read["x"], read["y"]
        both = tf.concat([x, y], 1)
        labels = tf.strings.as_string(both, precision=1)
        flat = tf.reshape(x, [-1])
        info = v1.saved_model.utils.build_tensor_info

        def signature(method: str, outputs: dict[str, Any], **inputs: Any) -> Any:
            inputs = inputs or {"inputs": texts}
            return v1.saved_model.build_signature_def(
                {name: info(tensor) for name, tensor in inputs.items()},
                {name: info(tensor) for name, tensor in outputs.items()},
                {
                    "predict": tf.saved_model.PREDICT_METHOD_NAME,
                    "classify": tf.saved_model.CLASSIFY_METHOD_NAME,
                    "regress": tf.saved_model.REGRESS_METHOD_NAME,
                }.get(method, method),
            )

        signatures = {
            "serving_default": signature(
                "predict",
                {"both": both, "labels": labels, "whole": tf.cast(flat * 8, tf.int64)},
                examples=texts,
            ),
            "flat_texts": signature("predict", {"label": labels[:, 0]}),
            "length": signature("predict", {"length": tf.strings.length(texts)}),
            "no_rows": signature("predict", {"sum": tf.reduce_sum(x)}),
            "classes": signature("classify", {"classes": labels}),
            "scores": signature("classify", {"scores": both}),
            "classes_scores": signature("classify", {"classes": labels, "scores": both}),
            "scores_and_more": signature("classify", {"scores": both, "more": x}),
            "uneven": signature("classify", {"classes": labels[:, :1], "scores": both}),
            "flat_scores": signature("classify", {"scores": flat}),
            "double_scores": signature("classify", {"scores": tf.cast(both, tf.float64)}),
            "few_scores": signature("classify", {"scores": both[:1]}),
            "no_classes": signature("classify", {"other": both}),
            "misnamed": signature("classify", {"scores": both}, texts=texts),
            "sum": signature("regress", {"outputs": x + y}),
            "flat_sum": signature("regress", {"outputs": tf.reshape(x + y, [-1])}),
            "difference": signature("regress", {"outputs": x - y}),
            "two_sums": signature("regress", {"outputs": both}),
            "whole_sum": signature("regress", {"outputs": tf.cast(x, tf.int32)}),
            "few_sums": signature("regress", {"outputs": flat[:1]}),
            "misnamed_sum": signature("regress", {"sum": x}),
            "of_others": signature(
                "regress", {"outputs": tf.strings.to_number(others)}, inputs=others
            ),
            "two_inputs": signature("predict", {"x": x}, a=texts, b=others),
            "of_numbers": signature("predict", {"x": number}, a=number),
            "no_method": signature("something", {"x": x}),
        }
        builder = v1.saved_model.Builder(path)
        builder.add_meta_graph_and_variables(session, ["serve"], signature_def_map=signatures)
        builder.add_meta_graph(["serve", "tpu"], signature_def_map=signatures)
        builder.save()
    return path


def spec(path: str, *signatures: str, tags: tuple[str, ...] = (), **parameters: Any) -> Any:
    return model_spec_pb2.InferenceSpecType(
        saved_model_spec=model_spec_pb2.SavedModelSpec(
            model_path=path, signature_name=signatures, tag=tags
        ),
        batch_parameters=model_spec_pb2.BatchParameters(**parameters) if parameters else None,
    )


def answers(module: Any, of: Any, examples: list[Any], load: Any = None) -> list[Any]:
    handler = module.create_model_handler(of, load, None)
    if module is run_inference:
        handler = pickle.loads(pickle.dumps(handler))
    return list(handler.run_inference(examples, handler.load_model()))


def theirs() -> Any:
    return real("tfx_bsl.beam.run_inference")


GOOD: list[tuple[str, ...]] = [
    (),
    ("length",),
    ("classes",),
    ("scores",),
    ("classes_scores",),
    ("scores_and_more",),
    ("sum",),
    ("flat_sum",),
    ("sum", "scores"),
    ("classes", "flat_sum"),
]


@pytest.mark.parametrize("signatures", GOOD)
@pytest.mark.parametrize("examples", [EXAMPLES, BYTES], ids=["messages", "bytes"])
def test_logs(model: str, signatures: tuple[str, ...], examples: list[Any]) -> None:
    of = spec(model, *signatures)
    ours = answers(run_inference, of, examples)
    assert len(ours) == len(examples)
    assert ours == answers(theirs(), of, examples)


def test_sequence_examples_and_other_bytes_are_predicted(model: str) -> None:
    sequence = tf.train.SequenceExample()
    sequence.context.feature["x"].int64_list.value.append(3)
    given = [sequence, b"anything"]
    [first, second] = answers(run_inference, spec(model, "length"), given)
    assert [first, second] == answers(theirs(), spec(model, "length"), given)
    assert second.predict_log.response.outputs["length"].int_val == [8]


@pytest.mark.parametrize("signature", ["sum", "scores"])
def test_sequence_examples_are_not_classified(model: str, signature: str) -> None:
    for module in (run_inference, theirs()):
        for names in ([signature], [signature, "sum"]):
            with pytest.raises(ValueError, match=r"tf\.train\.Example"):
                answers(module, spec(model, *names), [tf.train.SequenceExample()])


def test_two_heads_of_one_kind_have_each_its_own_values(model: str) -> None:
    """tfx_bsl gives both what the last one gives."""

    def values(module: Any) -> list[list[float]]:
        logs = answers(module, spec(model, "sum", "difference"), EXAMPLES)
        return [
            [result.regression_result.regressions[0].value for result in one.results]
            for one in (log.multi_inference_log.response for log in logs)
        ]

    assert values(run_inference) == [[1.0, 0.5], [0.5, 0.5], [6.0, -2.0]]
    assert values(theirs()) == [[0.5, 0.5], [0.5, 0.5], [-2.0, -2.0]]


def test_one_text_for_each_example(model: str) -> None:
    """tfx_bsl fails there."""
    logs = answers(run_inference, spec(model, "flat_texts"), EXAMPLES)
    outputs = [log.predict_log.response.outputs["label"] for log in logs]
    assert [tf.make_ndarray(output).tolist() for output in outputs] == [
        [b"0.8"],
        [b"0.5"],
        [b"2.0"],
    ]
    with pytest.raises(AttributeError):
        answers(theirs(), spec(model, "flat_texts"), EXAMPLES)


@pytest.mark.parametrize(
    "signature",
    [
        "no_rows",
        "uneven",
        "flat_scores",
        "double_scores",
        "few_scores",
        "two_sums",
        "whole_sum",
        "few_sums",
    ],
)
def test_outputs_of_a_wrong_shape_or_type(model: str, signature: str) -> None:
    with pytest.raises(ValueError, match=r"Expected|match"):
        answers(run_inference, spec(model, signature), EXAMPLES)
    with pytest.raises((ValueError, TypeError)):  # TypeError: its text was not to be formatted
        answers(theirs(), spec(model, signature), EXAMPLES)


@pytest.mark.parametrize(
    ("signatures", "kind"),
    [
        (("nothing",), RuntimeError),
        (("no_classes",), ValueError),
        (("misnamed",), ValueError),
        (("misnamed_sum",), ValueError),
        (("two_inputs",), ValueError),
        (("of_numbers",), ValueError),
        (("no_method",), ValueError),
        (("sum", "serving_default"), ValueError),
        (("sum", "of_others"), ValueError),
    ],
)
def test_signatures_that_cannot_be_asked(
    model: str, signatures: tuple[str, ...], kind: type[Exception]
) -> None:
    with pytest.raises(kind):
        run_inference.create_model_handler(spec(model, *signatures), None, None)
    with pytest.raises((kind, TypeError)):
        theirs().create_model_handler(spec(model, *signatures), None, None)


def test_models_that_are_not_there(model: str, tmp_path: pathlib.Path) -> None:
    cases: list[tuple[Any, type[Exception], str]] = [
        (spec(str(tmp_path)), IOError, "SavedModel file does not exist"),
        (spec(model, tags=("other",)), RuntimeError, "tags"),
        (spec(model, tags=("serve", "tpu")), NotImplementedError, "TPU"),
    ]
    for of, kind, text in cases:
        for module in (run_inference, theirs()):
            with pytest.raises(kind, match=text):
                module.create_model_handler(of, None, None)
    with pytest.raises(ValueError, match="Model path is not valid"):
        run_inference.create_model_handler(spec(""), None, None)


def test_what_beam_asks_a_handler(model: str) -> None:
    parameters = {
        "min_batch_size": 2,
        "max_batch_size": 8,
        "target_batch_overhead": 0.5,
        "target_batch_duration_secs": 2.0,
        "variance": 0.25,
    }
    for signatures in [(), ("sum",), ("classes",), ("sum", "classes")]:
        of = spec(model, *signatures, **parameters)
        ours = public.CreateModelHandler(of)
        other = theirs().create_model_handler(of, None, None)
        assert isinstance(ours, base.ModelHandler)
        assert ours.get_metrics_namespace() == other.get_metrics_namespace()
        assert ours.batch_elements_kwargs() == other.batch_elements_kwargs() == parameters
        assert ours.get_num_bytes(EXAMPLES) == other.get_num_bytes(BYTES) == sum(map(len, BYTES))


def test_a_loaded_model_is_taken(model: str) -> None:
    asked: list[Any] = []

    class Session:
        def run(self, fetches: Any, feed_dict: Any) -> Any:
            assert fetches == {"outputs": mock.ANY}
            assert list(feed_dict.values()) == [BYTES]
            return {"outputs": np.array([[1], [2], [3]], np.float32)}

    def load(path: str, tags: Any) -> Any:
        asked.append((path, tags))
        return Session()

    for module in (run_inference, theirs()):
        handler = module.create_model_handler(spec(model, "sum"), load, None)
        logs = list(handler.run_inference(EXAMPLES, handler.load_model()))
        values = [log.regress_log.response.result.regressions[0].value for log in logs]
        assert values == [1, 2, 3]
    assert asked == [(model, ["serve"])] * 2


def test_model_size(model: str) -> None:
    for path in (model, model + "/nothing"):
        size = run_inference.RunInferenceImpl._model_size_bytes(path)
        assert size == theirs().RunInferenceImpl._model_size_bytes(path)


def test_pipelines(model: str) -> None:
    """All four transforms, over all that they take."""
    one, two = spec(model), spec(model, "sum")
    first, second = (answers(run_inference, of, THROUGH_BEAM) for of in (one, two))
    pairs = list(zip(first, second, strict=True))
    keyed = list(enumerate(THROUGH_BEAM))
    batches = [("a", THROUGH_BEAM[:2]), ("b", THROUGH_BEAM[2:]), ("c", [])]
    cases: list[tuple[Any, list[Any], list[Any]]] = [
        (public.RunInference(one), THROUGH_BEAM, first),
        (public.RunInference(inference_spec_type=two), keyed, list(enumerate(second))),
        (public.RunInferencePerModel([one, two]), THROUGH_BEAM, pairs),
        (
            public.RunInferencePerModel(iter([one, two])),
            [one.SerializeToString() for one in THROUGH_BEAM],
            pairs,
        ),
        (public.RunInferencePerModel([one, two]), keyed, list(enumerate(pairs))),
        (
            public.RunInferenceOnKeyedBatches(one),
            batches,
            [("a", first[:2]), ("b", first[2:]), ("c", [])],
        ),
        (
            public.RunInferencePerModelOnKeyedBatches([one, two]),
            batches,
            [("a", (first[:2], second[:2])), ("b", (first[2:], second[2:])), ("c", ([], []))],
        ),
        (
            base.RunInference(base.KeyedModelHandler(public.CreateModelHandler(two))),
            keyed,
            list(enumerate(second)),
        ),
    ]
    assert public_beam.RunInference is public.RunInference
    batch_type = hints.Tuple[str, hints.List[tf.train.Example]]  # not to be seen in an empty list
    with beam.Pipeline() as pipeline:
        made = []
        for i, (transform, given, _) in enumerate(cases):
            examples = pipeline | f"Create{i}" >> beam.Create(given, reshuffle=False)
            if given is batches:
                examples.element_type = batch_type
            answered = examples | f"Infer{i}" >> transform
            made.append(answered | f"Number{i}" >> beam.Map(lambda x, i=i: (i, x)))
        expected = [(i, x) for i, (_, _, results) in enumerate(cases) for x in results]
        assert_that(made | beam.Flatten(), equal_to(expected))


def test_per_model_takes_what_is_not_typed(model: str) -> None:
    """Where Beam does not know whether there are keys."""
    logs = answers(run_inference, spec(model, "sum"), THROUGH_BEAM)
    with beam.Pipeline() as pipeline:
        made = (
            pipeline
            | beam.Create(list(enumerate(THROUGH_BEAM)))
            | beam.Map(lambda x: x).with_output_types(Any)
            | run_inference.RunInferencePerModelImpl([spec(model, "sum")])
        )
        assert_that(made, equal_to([(i, (log,)) for i, log in enumerate(logs)]))


def constant(value: float) -> Any:
    """A load_override_fn."""

    class Session:
        def run(self, fetches: Any, feed_dict: Any) -> Any:
            [examples] = feed_dict.values()
            return {"outputs": np.full(len(examples), value, np.float32)}

    return lambda path, tags: Session()


def test_per_model_loads_as_it_is_told(model: str) -> None:
    """tfx_bsl drops load_override_fn where there are no keys."""

    def values(per_model: Any) -> Any:
        return [one.regress_log.response.result.regressions[0].value for one in per_model]

    with beam.Pipeline() as pipeline:
        for name, given in {"Plain": EXAMPLES[:1], "Keyed": [("k", EXAMPLES[0])]}.items():
            made = (
                pipeline
                | f"{name}Create" >> beam.Create(given)
                | f"{name}Infer"
                >> public.RunInferencePerModel([spec(model, "sum")] * 2, constant(7))
                | f"{name}Values" >> beam.Map(lambda x: values(x[1] if x[0] == "k" else x))
            )
            assert_that(made, equal_to([[7.0, 7.0]]), label=f"{name}Check")


def test_batch_parameters_hold_for_the_transforms(model: str) -> None:
    """tfx_bsl's transforms do not hand them to Beam."""
    result = run_with_metrics(
        run_inference.RunInferenceImpl(spec(model, "sum", min_batch_size=2, max_batch_size=2)),
        EXAMPLES * 4,
    )
    [sizes] = result.metrics().query(MetricsFilter().with_name("inference_request_batch_size"))[
        "distributions"
    ]
    assert (sizes.result.sum, sizes.result.max) == (12, 2)


def test_metrics(model: str) -> None:
    result = run_with_metrics(run_inference.RunInferenceImpl(spec(model, "classes")), EXAMPLES)
    found = result.metrics().query(MetricsFilter())
    counters = {one.key.metric.name: one for one in found["counters"]}
    assert counters["num_inferences"].result == 3
    namespace = "tfx.BulkInferrer.CLASSIFICATION.InProcess"
    assert counters["num_inferences"].key.metric.namespace == namespace
    sizes = {one.key.metric.name: one.result for one in found["distributions"]}
    assert sizes["inference_request_batch_byte_size"].sum == sum(map(len, BYTES))
    assert sizes["load_model_latency_milli_secs"].count == 1


def run_with_metrics(transform: Any, given: list[Any]) -> Any:
    pipeline = beam.Pipeline()
    _ = pipeline | beam.Create(given, reshuffle=False) | transform
    result = pipeline.run()
    result.wait_until_finish()
    return result


@pytest.mark.parametrize(
    ("element", "one"),
    [
        (EXAMPLES[0], Log),
        (b"", Log),
        (tf.train.SequenceExample(), Log),
        (("key", EXAMPLES[0]), Log),
        (("key", b""), Log),
        (("key", [EXAMPLES[0]]), hints.List[Log]),
    ],
    ids=["message", "bytes", "sequence", "keyed message", "keyed bytes", "keyed list"],
)
def test_types_of_what_comes_out(model: str, element: Any, one: Any) -> None:
    specs = [spec(model), spec(model, "sum")]
    is_keyed = isinstance(element, tuple)

    def with_key(kind: Any) -> Any:
        return hints.Tuple[str, kind] if is_keyed else kind

    for module in (run_inference, theirs()):
        examples = beam.Pipeline() | beam.Create([element])
        single = examples | module.RunInferenceImpl(specs[0])
        assert single.element_type == with_key(one)
        several = examples | module.RunInferencePerModelImpl(specs)
        assert several.element_type == with_key(hints.Tuple[one, one])


def test_a_model_of_tensorflow_2(tmp_path: pathlib.Path) -> None:
    class Model(tf.Module):  # type: ignore[misc, unused-ignore]
        def __init__(self) -> None:
            self.weight = tf.Variable(3.0)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "inputs")])
        def ask(self, texts: Any) -> Any:
            column = tf.io.FixedLenFeature([1], tf.float32)
            return {"three_times": tf.io.parse_example(texts, {"x": column})["x"] * self.weight}

    made = Model()
    tf.saved_model.save(made, str(tmp_path), signatures=made.ask)
    logs = answers(run_inference, spec(str(tmp_path)), EXAMPLES)
    assert logs == answers(theirs(), spec(str(tmp_path)), EXAMPLES)
    outputs = [log.predict_log.response.outputs["three_times"] for log in logs]
    assert [tf.make_ndarray(output).tolist() for output in outputs] == [[[2.25]], [[1.5]], [[6.0]]]


def remote(**fields: Any) -> Any:
    return model_spec_pb2.InferenceSpecType(
        ai_platform_prediction_model_spec=model_spec_pb2.AIPlatformPredictionModelSpec(**fields)
    )


class Service:
    """What googleapiclient makes of the service: answers to requests, in turn."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, Any]] = []

    def projects(self) -> Service:
        return self

    def predict(self, name: str, body: Any) -> Service:
        self.asked.append((name, json.loads(json.dumps(body))))
        return self

    def execute(self) -> Any:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def ask(module: Any, of: Any, service: Service, examples: list[Any], project: Any = None) -> Any:
    handler = module.create_model_handler(of, None, project)
    with mock.patch("googleapiclient.discovery.build", lambda *_: service):
        handler.load_model()
    return list(handler.run_inference(examples, None))


def every_kind() -> tf.train.Example:
    made = example(z=4.5)
    feature = made.features.feature
    feature["x_bytes"].bytes_list.value.append(b"\xff\x00")
    feature["x"].bytes_list.value.append(b"text")
    feature["y"].int64_list.value.extend([1, 2])
    feature["none"].CopyFrom(tf.train.Feature())
    return made


@pytest.mark.parametrize("values", [[0.5, 1.5], 3, "text", [["a"], ["b"]], [[True]]])
def test_remote(values: Any) -> None:
    asked, logs = [], []
    for module in (run_inference, theirs()):
        service = Service({"predictions": [{"out": values}, {"out": values}]})
        of = remote(model_name="m", version_name="v")
        logs.append(ask(module, of, service, [every_kind()] * 2, "p"))
        asked.append(service.asked)
    assert logs[0] == logs[1]
    assert asked[0] == asked[1]
    [(name, body)] = asked[0]
    assert name == "projects/p/models/m/versions/v"
    expected = {"x_bytes": {"b64": "/wA="}, "x": "text", "y": [1, 2], "z": 4.5}
    assert body == {"instances": [expected] * 2}


def test_remote_serialized() -> None:
    of = remote(project_id="own", model_name="m", use_serialization_config=True)
    given = [EXAMPLES[0], tf.train.SequenceExample(), b"anything"]
    for module in (run_inference, theirs()):
        service = Service({"predictions": [{"out": i} for i in range(3)]})
        logs = ask(module, of, service, given, "other")
        assert [log.predict_log.response.outputs["out"].int64_val[0] for log in logs] == [0, 1, 2]
        [(name, body)] = service.asked
        assert name == "projects/own/models/m"
        assert [base64.b64decode(one["b64"]) for one in body["instances"]] == [
            BYTES[0],
            b"",
            b"anything",
        ]


def test_remote_errors() -> None:
    of = remote(project_id="p", model_name="m")
    for module in (run_inference, theirs()):
        for bad in (remote(model_name="m"), remote(project_id="p")):
            with pytest.raises(ValueError, match="non-empty"):
                module.create_model_handler(bad, None, None)
        with pytest.raises(ValueError, match="decode failed"):
            ask(module, of, Service({"error": "decode failed"}), EXAMPLES)
        for given in (BYTES[0], tf.train.SequenceExample()):
            with pytest.raises(NotImplementedError, match="use_serialization_config"):
                ask(module, of, Service(), [given])
        handler = module.create_model_handler(of, None, None)
        with pytest.raises(ValueError, match="client"):
            handler.run_inference(EXAMPLES, None)
        assert handler.get_metrics_namespace() == (
            "tfx.BulkInferrer.PREDICTION.CloudAIPlatformPrediction"
        )
    with pytest.raises(ValueError, match="3 examples have 1 predictions"):
        ask(run_inference, of, Service({"predictions": [{"out": 1}]}), EXAMPLES)


def test_remote_is_asked_again_while_it_is_busy() -> None:
    def error(status: int) -> errors.HttpError:
        response = mock.Mock(status=status, reason="")
        return errors.HttpError(response, b"{}")

    of = remote(project_id="p", model_name="m")
    for module in (run_inference, theirs()):
        with mock.patch("time.sleep"):
            service = Service(error(429), error(503), {"predictions": [{"out": 1}]})
            assert len(ask(module, of, service, EXAMPLES[:1])) == 1
            with pytest.raises(errors.HttpError):
                ask(module, of, Service(error(400), {}), EXAMPLES[:1])
