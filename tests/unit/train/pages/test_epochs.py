from __future__ import annotations

import msgspec

from skillopt.train.pages.epochs import epochs
from skillopt.train.pages.markup import together
from skillopt.train.pages.page import page
from tests.simulation.house import house, live
from tests.simulation.memory_house import memory_house


def test_the_table_says_what_each_epoch_led_to() -> None:
    lived = live(memory_house(11, slow="force", pairs="mixed"))
    shown = together(epochs(lived.view)).markup
    assert shown.count("<tr>") == 1 + len(lived.view.epochs)
    assert "force accept" in shown
    assert "Advice for the optimizer after epoch 2" in shown
    for epoch in lived.view.epochs:
        if epoch.slow_update is not None and epoch.slow_update.content:
            assert epoch.slow_update.content.split(".")[0] in shown
    assert '<h2 id="epochs">' in page(lived.view, lived.summary)


def test_words_of_a_model_are_text() -> None:
    view = live(memory_house(11, slow="force", pairs="mixed")).view
    slow = view.epochs[1].slow_update
    assert slow is not None
    evil = msgspec.structs.replace(slow, content="<script>alert(1)</script>")
    epoch = msgspec.structs.replace(view.epochs[1], slow_update=evil)
    shown = together(epochs(msgspec.structs.replace(view, epochs=(epoch,)))).markup
    assert "&lt;script&gt;" in shown
    assert "<script" not in shown


def test_without_epochs_there_is_no_section() -> None:
    lived = live(house(epochs=0))
    assert 'id="epochs"' not in page(lived.view, lived.summary)
