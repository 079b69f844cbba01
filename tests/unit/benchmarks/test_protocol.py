from __future__ import annotations

import json

from benchmarks.protocol import Measurement, Request
from benchmarks.series import Series


def test_json_gives_request_and_measurement_back() -> None:
    request = Request("mlp", "neuron", "tiny", 0.5)
    measurement = Measurement({"inference": Series((1.0,), (0.5,))}, {"flops inference": 8.0})
    assert Request.from_json(json.loads(json.dumps(request.to_json()))) == request
    assert Measurement.from_json(json.loads(json.dumps(measurement.to_json()))) == measurement
