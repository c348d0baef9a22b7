"""How large a call will be, by verb: as an earlier run had them, or else from the prompts as they will be sent.
Owns the guess of a token from characters and of a reply nobody has seen; refuses to know prices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skillopt.domain.usage import Usage
from skillopt.kernel.ports import Environment
from skillopt.kernel.work import Stage
from skillopt.phases.prompting import shipped_prompt
from skillopt.train.forecast.calls import Setup
from skillopt.train.forecast.estimate import Size

_CHARACTERS_A_TOKEN = 4
_USUAL_ANSWER = 150  # tokens; answers to tasks are mostly short
_USUAL_IMAGE = 1000  # tokens; a page or a screenshot, as most providers count
_USUAL_PROPOSAL = 500  # tokens; a few edits with their reasons
_USUAL_CHOICE = 100  # a few numbers with their reasons
_USUAL_LESSON = 18  # a line of the skill
_SPREAD = 2.0  # how much longer than seen the replies of a whole run may be on average
_SAMPLE = 50


def sizes(
    setup: Setup, environment: Environment, seen: Mapping[str, Usage], longest: Mapping[Stage, int]
) -> dict[str, Size]:
    """Return the size of a call of each verb; `seen` is what a run used, `longest` the most tokens of a reply."""
    guessed: dict[Stage, tuple[float, int, int]] = {
        "rollout": (_rollout(setup, environment), _USUAL_ANSWER, 1),
        "judge": (_judge(setup), _USUAL_ANSWER, 0),
        "reflect": (_reflect(setup), _USUAL_PROPOSAL, 1),
        "merge": (_about(setup, "merge_failures", proposals=2), _USUAL_PROPOSAL, 1),
        "rank": (_about(setup, "rank", proposals=2), _USUAL_CHOICE, 1),
        "budget": (_about(setup, "budget", proposals=2), _USUAL_CHOICE, 1),
        "repair": (_about(setup, "repair", proposals=1), _USUAL_PROPOSAL, 1),
        "rewrite": (_about(setup, "rewrite", proposals=1), _USUAL_PROPOSAL + _skill(setup) // _CHARACTERS_A_TOKEN, 1),
        "notes": (_about(setup, "notes", proposals=1), _USUAL_PROPOSAL, 1),
        "slow_update": (_epoch(setup, "slow_update"), _USUAL_PROPOSAL, 2),
        "meta_skill": (_epoch(setup, "meta_skill"), _USUAL_PROPOSAL, 2),
    }
    return {
        verb: _seen(seen[verb], longest[verb]) if verb in seen else _guess(*guess, longest[verb])
        for verb, guess in guessed.items()
    }


def _seen(usage: Usage, longest: int) -> Size:
    written = usage.output_tokens / usage.calls
    return Size(read=usage.input_tokens / usage.calls, written=written, most_written=min(longest, written * _SPREAD))


def _guess(characters: float, written: int, skills: int, longest: int) -> Size:
    return Size(
        read=characters / _CHARACTERS_A_TOKEN,
        lesson=skills * _USUAL_LESSON,
        written=min(written, longest),
        most_written=longest,
    )


def _rollout(setup: Setup, environment: Environment) -> float:
    skill = setup.plan.seed_skill.rendered
    return _mean(
        [
            sum(
                len(message.content) + len(message.images) * _USUAL_IMAGE * _CHARACTERS_A_TOKEN
                for message in environment.messages(task, skill)
            )
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
    return len(shipped_prompt("reflect_failures")) + _skill(setup) + cases


def _about(setup: Setup, prompt: str, *, proposals: int) -> float:
    """The prompt, the skill, and so many proposals of the usual length."""
    return len(shipped_prompt(prompt)) + _skill(setup) + proposals * _USUAL_PROPOSAL * _CHARACTERS_A_TOKEN


def _skill(setup: Setup) -> int:
    return len(setup.plan.seed_skill.rendered)


def _epoch(setup: Setup, prompt: str) -> float:
    """The prompt, both skills, and about as much of each compared task as a reflection shows of a case."""
    case = (_reflect(setup) - len(shipped_prompt("reflect_failures"))) / setup.reflect.minibatch_size
    samples = min(setup.plan.optimizer.slow_update.samples, len(setup.plan.tasks.train))
    return len(shipped_prompt(prompt)) + 2 * _skill(setup) + samples * case


def _judge(setup: Setup) -> float:
    judged = [len(str(task.input)) + len(task.rubric) for task in setup.plan.val if task.rubric is not None]
    return len(shipped_prompt("judge")) + _mean(judged) + _USUAL_ANSWER * _CHARACTERS_A_TOKEN


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values) if values else 0.0
