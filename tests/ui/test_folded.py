"""Folded groups of the sidebar: made when opened or used, with the same answer before and after."""

import pytest
from ui_app import app, copied, run

from advisor.ui.sidebar.folded import DRAFTING, MONEY, REQUEST, TYPED_PRICES

GROUPS = {"open_request": REQUEST, "open_money": MONEY}


def keys(test):
    return {
        each.key for kind in ("number_input", "selectbox", "text_input") for each in test.get(kind)
    }


def choices(test):
    return test.session_state["last_asked"][1]


@pytest.mark.parametrize("group", GROUPS)
def test_an_unopened_group_counts_as_its_widgets_would(group):
    test = app()
    before = choices(test)
    assert keys(test).isdisjoint(GROUPS[group])
    test.session_state[group] = True
    run(test)
    assert set(GROUPS[group]) <= keys(test)
    assert repr(choices(test)) == repr(before)


def test_what_an_address_states_is_obeyed_and_stays_in_the_link():
    test = app(hour="12", prompt="4000")
    assert (choices(test).hour, choices(test).prompt) == (12.0, 4000)
    assert test.number_input(key="hour").value == 12.0
    (link,) = [text for text in copied(test) if text.startswith("http")]
    assert "hour=12" in link
    assert "prompt=4000" in link


def test_a_group_stays_once_it_was_used():
    test = app()
    test.session_state["open_money"] = True
    run(test).number_input(key="hour").set_value(7.0)
    run(test)
    test.session_state["open_money"] = False
    assert choices(run(test)).hour == 7.0
    assert test.number_input(key="hour").value == 7.0


def test_find_takes_money_from_the_same_group():
    test = app("find", machine="Another machine", kwh="0.4")
    assert test.number_input(key="kwh").value == 0.4
    assert keys(test).isdisjoint((*DRAFTING, *TYPED_PRICES))
