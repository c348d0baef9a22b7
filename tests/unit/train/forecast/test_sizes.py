from __future__ import annotations

from skillopt.domain.chat import Image, Message
from skillopt.domain.tasks import Task
from skillopt.domain.usage import Usage
from skillopt.environments.dataset import Dataset, DatasetSettings
from skillopt.kernel.work import STAGES
from skillopt.train.forecast.sizes import TERSE, Replies, sizes
from tests.unit.train.forecast.plans import setup

LONGEST = {**dict.fromkeys(STAGES, 4000), "rollout": 100}
ENVIRONMENT = Dataset(DatasetSettings(path="."), setup().plan.tasks)


def test_what_was_seen_is_believed() -> None:
    seen = {"rollout": Usage(calls=10, input_tokens=500, output_tokens=80)}
    size = sizes(setup(), ENVIRONMENT, seen, LONGEST)["rollout"]
    assert (size.least_read, size.read, size.most_read) == (25, 50, 100)
    assert (size.least_written, size.written, size.most_written) == (4, 8, 16)
    assert size.lesson == 0  # the skill was in what was seen, as it grew


def test_what_was_not_seen_is_read_off_the_prompts() -> None:
    found = sizes(setup(), ENVIRONMENT, {}, LONGEST)
    assert found["rollout"].read == (len("# Skill") + 40) / 4
    assert found["rollout"].most_written == 100
    assert found["rollout"].least_read < found["rollout"].read < found["rollout"].most_read
    assert found["rollout"].least_written == 1
    assert found["rollout"].written <= 100
    assert found["reflect"].read > 4 * 10
    assert found["reflect"].most_written == 4000
    assert found.keys() == set(STAGES)
    assert found["slow_update"].lesson == 2 * found["rollout"].lesson > 0


def test_an_image_is_read_too() -> None:
    class Gallery(Dataset):
        def messages(self, task: Task, rendered_skill: str) -> tuple[Message, ...]:
            image = Image(media_type="image/png", digest="d", fetch=lambda: b"")
            return (*super().messages(task, rendered_skill)[:-1], Message("user", "x" * 40, (image, image)))

    gallery = Gallery(DatasetSettings(path="."), setup().plan.tasks)
    assert sizes(setup(), gallery, {}, LONGEST)["rollout"].read == (len("# Skill") + 40) / 4 + 2000


def test_who_talks_less_is_read_less() -> None:
    usual, terse = (
        sizes(setup(), ENVIRONMENT, {}, LONGEST, dict.fromkeys(STAGES, replies)) for replies in (Replies(), TERSE)
    )
    assert usual == sizes(setup(), ENVIRONMENT, {}, LONGEST)
    assert terse["rollout"].written == TERSE.answer
    assert terse["reflect"].written == TERSE.proposal
    assert terse["rank"].read < usual["rank"].read
