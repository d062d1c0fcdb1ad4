"""Links that hold in the repository are made to hold on the site, and slips are seen."""

import pytest
from links import code_linked, relinked

RULES = "../spec/asyncwait/spec/rules"


@pytest.mark.parametrize(
    ("link", "uri", "there"),
    [
        ("pool.md", "threads.md", "pool.md"),
        ("../pool.md#a-part", "tutorials/gate.md", "../pool.md#a-part"),
        (f"{RULES}/02-order.md", "pool.md", "spec/02-order.md"),
        ("03-watermarks.md", "spec/02-order.md", "03-watermarks.md"),
        ("../rules/00-introduction.md", "protocol/json-lines.md", "../spec/00-introduction.md"),
        ("schema.json", "protocol/json-lines.md", "schema.json"),
        ("../examples/peers/rows.py", "pool.md", "source/examples/peers/rows.py.md"),
        ("#a-part", "pool.md", "#a-part"),
        ("https://example.org/a", "pool.md", "https://example.org/a"),
    ],
)
def test_a_link_leads_to_where_its_target_stands_on_the_site(
    link: str, uri: str, there: str
) -> None:
    assert relinked(f"see [it]({link}).", uri) == f"see [it]({there})."


def test_what_stands_in_code_is_no_link() -> None:
    text = "`[it](pool.md)` and\n```python\na[0](pool.md)\n```\n"

    assert relinked(text, "tutorials/gate.md") == text


def test_a_link_that_leads_nowhere_is_an_error() -> None:
    with pytest.raises(FileNotFoundError, match=r"^docs/pool\.md: there is no docs/poole\.md$"):
        relinked("[it](poole.md)", "pool.md")


def test_code_that_a_page_links_to_is_found() -> None:
    text = "[a](../examples) [b](threads.md) [c](https://example.org) [d](../pyproject.toml)"

    assert list(code_linked(text, "pool.md")) == ["examples", "pyproject.toml"]
