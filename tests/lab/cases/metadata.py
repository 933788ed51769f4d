"""The metadata service, when it does not do what it should."""

from machine import document


def away(lab):
    machine = lab.machine("metadata away")
    trial = machine.boot(document(), "--metadata-fault", "down=6").came_up()
    opened = trial.of("agent", "opened")[0]["at_ms"]
    assert opened - trial.of("identify", "started")[0]["at_ms"] > 5000
    machine.like(lab.reference(document()))


def slow(lab):
    machine = lab.machine("metadata slow")
    trial = machine.boot(document(), "--metadata-fault", "slow=1").came_up()
    assert trial.requests() == 4
    assert trial.of("identify", "finished")[0]["at_ms"] - trial.of("identify", "started")[0]["at_ms"] >= 4000
    machine.like(lab.reference(document()))


def fails_and_recovers(lab):
    machine = lab.machine("metadata fails and recovers")
    trial = machine.boot(document(), "--fail", "identify=2").came_up()
    assert trial.requests() == 6
    machine.like(lab.reference(document()))


def refused(fault, *words):
    """What asking again does not change is told, with what to do; nothing is done meanwhile."""

    def case(lab):
        machine = lab.machine(f"metadata {fault}")
        trial = machine.boot(document(), "--metadata-fault", fault, "--until", "identify=paused").did_not()
        event = trial.of("identify", "paused")[0]
        assert all(word in event["why"] for word in words), event
        assert not machine.calls() and not machine.runs() and not machine.path("/etc/lab/about").exists()

    return case


def passing(fault, *words):
    """What may pass is asked again, and told."""

    def case(lab):
        machine = lab.machine(f"metadata {fault}")
        trial = machine.boot(document(), "--metadata-fault", fault, "--until", "identify=retrying").did_not()
        event = trial.of("identify", "failed")[0]
        assert all(word in event["why"] for word in words), event
        # More than one attempt at it, and not a storm.
        assert 3 <= trial.outcome["metadata_requests"][0]["all"] <= 30, trial.outcome["metadata_requests"]
        assert not machine.calls() and not machine.runs() and not machine.path("/etc/lab/about").exists()

    return case


def cases():
    yield "away for a while", away
    yield "slow", slow
    yield "fails twice and recovers", fails_and_recovers
    yield "401", refused("401", "401")
    yield "403", refused("403", "403")
    yield "404", refused("404", "404")
    yield "garbage", passing("garbage", "something else")
    yield "429", passing("429", "429")
    yield "500", passing("500", "500")
