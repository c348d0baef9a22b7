"""How large a call will be, by verb: as an earlier run had them, or else from the prompts as they will be sent.
Owns the guess of a token from characters and of a reply nobody has seen; refuses to know prices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skillopt.domain.usage import Usage
from skillopt.kernel.ports import Environment
from skillopt.phases.prompting import shipped_prompt
from skillopt.train.forecast.calls import Setup
from skillopt.train.forecast.estimate import Size

_CHARACTERS_A_TOKEN = 4
_USUAL_ANSWER = 150  # tokens; answers to tasks are mostly short
_USUAL_PROPOSAL = 500  # tokens; a few edits with their reasons
_SPREAD = 2.0  # how much longer than seen the replies of a whole run may be on average
_SAMPLE = 50


def sizes(
    setup: Setup, environment: Environment, seen: Mapping[str, Usage], longest: Mapping[str, int]
) -> dict[str, Size]:
    """Return the size of a call of each verb; `seen` is what a run used, `longest` the most tokens of a reply."""
    guessed = {
        "rollout": _guess(_rollout(setup, environment), _USUAL_ANSWER, longest["rollout"]),
        "reflect": _guess(_reflect(setup), _USUAL_PROPOSAL, longest["reflect"]),
        "slow_update": _guess(_epoch(setup, "slow_update"), _USUAL_PROPOSAL, longest["slow_update"]),
        "meta_skill": _guess(_epoch(setup, "meta_skill"), _USUAL_PROPOSAL, longest["meta_skill"]),
        "judge": _guess(_judge(setup), _USUAL_ANSWER, longest["judge"]),
    }
    return {verb: _seen(seen[verb], longest[verb]) if verb in seen else guess for verb, guess in guessed.items()}


def _seen(usage: Usage, longest: int) -> Size:
    written = usage.output_tokens / usage.calls
    return Size(read=usage.input_tokens / usage.calls, written=written, most_written=min(longest, written * _SPREAD))


def _guess(characters: float, written: int, longest: int) -> Size:
    return Size(read=characters / _CHARACTERS_A_TOKEN, written=min(written, longest), most_written=longest)


def _rollout(setup: Setup, environment: Environment) -> float:
    skill = setup.plan.seed_skill.rendered
    return _mean(
        [
            sum(len(message.content) for message in environment.messages(task, skill))
            for task in setup.plan.val[:_SAMPLE]
        ]
    )


def _reflect(setup: Setup) -> float:
    most = setup.reflect.transcript_tokens * _CHARACTERS_A_TOKEN // 2
    shown = _mean(
        [min(most, len(str(task.input)) + len(task.context or "")) for task in setup.plan.tasks.train[:_SAMPLE]]
    )
    case = shown + min(most, _USUAL_ANSWER * _CHARACTERS_A_TOKEN)
    cases = setup.reflect.minibatch_size * case
    return len(shipped_prompt("reflect_failures")) + len(setup.plan.seed_skill.rendered) + cases


def _epoch(setup: Setup, prompt: str) -> float:
    """The prompt, both skills, and about as much of each compared task as a reflection shows of a case."""
    case = (_reflect(setup) - len(shipped_prompt("reflect_failures"))) / setup.reflect.minibatch_size
    samples = min(setup.plan.optimizer.slow_update.samples, len(setup.plan.tasks.train))
    return len(shipped_prompt(prompt)) + 2 * len(setup.plan.seed_skill.rendered) + samples * case


def _judge(setup: Setup) -> float:
    judged = [len(str(task.input)) + len(task.rubric) for task in setup.plan.val if task.rubric is not None]
    return len(shipped_prompt("judge")) + _mean(judged) + _USUAL_ANSWER * _CHARACTERS_A_TOKEN


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values) if values else 0.0
