"""The app in process, for tests of the pages."""

import json
import re
from html import unescape
from pathlib import Path

from plotly.graph_objects import Figure
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import ElementTree

ROOT = Path(__file__).parents[2]


def app(page: str = "", /, **parameters: str) -> AppTest:
    """A page of a link with these parameters, run once: Advise, or the page of this address."""
    test = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    if page:
        test.switch_page(f"advisor/ui/pages/{page}.py")
    for key, value in parameters.items():
        test.query_params[key] = value
    return run(test)


def run(test: AppTest) -> AppTest:
    """Run the page, which must not fail."""
    test.run()
    assert not test.exception, [exception.message for exception in test.exception]
    return test


def press(test: AppTest, key: str) -> AppTest:
    """The page after a button within its HTML was pressed."""
    test.pills(key="pressed").set_value(key)
    return run(test)


def figures(test: AppTest) -> list[Figure]:
    """All charts; raises where a property is none of Plotly's, which the page does not check."""
    return [Figure(**json.loads(chart.proto.spec)) for chart in test.get("plotly_chart")]


def page_text(test: AppTest) -> str:
    """All HTML of the page."""
    bodies = (element.proto.body for element in test.get("html"))
    return "\n".join(body for body in bodies if not body.startswith("<style>"))


def page_styles(test: AppTest) -> str:
    """All style sheets of the page, whose words some buttons show."""
    bodies = (element.proto.body for element in test.get("html"))
    return "\n".join(body for body in bodies if body.startswith("<style>"))


def copied(test: AppTest) -> list[str]:
    """Texts that have a copy button."""
    blocks = re.findall(r"class='oa-code'><pre[^>]*><code>(.*?)</code>", page_text(test), re.DOTALL)
    return [unescape(text) for text in blocks]


def chart_words(test: AppTest) -> list[str]:
    """Charts over two axes, in the words of who cannot see them."""
    labels = re.findall(r"class='oa-plane' role='img' aria-label='([^']*)'", page_text(test))
    return [unescape(words) for words in labels]


def unfolded(test: AppTest, *keys: str) -> AppTest:
    """The page with popovers, expanders or tabs open, which stay open as in a browser.

    AppTest sends no state of them, so that the next run would find them closed.
    """
    test.unfolded = {*getattr(test, "unfolded", ()), *keys}
    for key in keys:
        test.session_state[key] = True
    return run(test)


def _with_unfolded(tree: ElementTree) -> object:
    states = _STATES(tree)
    for key in getattr(tree._runner, "unfolded", ()):
        popovers = (block.proto.popover.id for block in tree.get("popover"))
        for identity in (*popovers, *(block.proto.id for block in tree.get("expander"))):
            if identity.endswith(f"-{key}"):
                state = states.widgets.add()
                state.id = identity
                state.bool_value = True
    return states


_STATES = ElementTree.get_widget_states
ElementTree.get_widget_states = _with_unfolded


def shared_link(test: AppTest) -> str:
    """The address that the Share button gives."""
    return next(text for text in copied(unfolded(test, "copy_link")) if text.startswith("http"))


def tab(test: AppTest, title: str) -> AppTest:
    """The Advise page with a tab open."""
    test.session_state["advise_tab"] = title
    return run(test)
