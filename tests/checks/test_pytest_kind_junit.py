"""What a process of the student's hands over as JUnit XML is read, or refused, and nothing else happens."""

from __future__ import annotations

import pytest

from grader.checks.junit_results import CHARACTERS_AT_MOST, Unreadable, read_results
from grader.subject.tools.run_tests import JUNIT_CHARACTERS

HEAD = '<?xml version="1.0" encoding="utf-8"?>'


def junit(cases):
    return f"{HEAD}<testsuites><testsuite>{cases}</testsuite></testsuites>"


def test_both_sides_mean_the_same_length():
    assert CHARACTERS_AT_MOST == JUNIT_CHARACTERS


def test_a_test_without_anything_in_it_passed_and_one_without_a_name_is_none():
    assert [r.status for r in read_results(junit('<testcase name="a" /><testcase time="0" />'))] == ["passed"]


def test_a_test_can_fail_and_then_its_fixture_as_well():
    text = junit(
        '<testcase name="a"><failure message="x" /></testcase><testcase name="a"><error /></testcase>'
    )
    assert [result.status for result in read_results(text)] == ["failed", "error"]


def test_functions_in_a_message_have_their_names_and_no_addresses():
    message = (
        "assert False&#10; +  where False = "
        "&lt;built-in method allclose of type object at 0x7fae5e8cea40&gt;(1, 2)&#10; +  and "
        "&lt;function rows.&lt;locals&gt;.inner at 0x7f00&gt; = &lt;work.Net object at 0x7f01&gt;"
    )
    (result,) = read_results(junit(f'<testcase name="a"><failure message="{message}" /></testcase>'))
    assert result.message == (
        "assert False + where False = allclose(1, 2) + and rows.<locals>.inner = <work.Net object>"
    )


def test_long_messages_are_shortened_to_one_line_and_details_to_their_end():
    text = junit(
        f'<testcase name="a"><failure message="{"x &#10; " * 300}">{"y" * 9999}end</failure></testcase>'
    )
    (result,) = read_results(text)
    assert len(result.message) == 300
    assert "\n" not in result.message
    assert len(result.details) == 4000
    assert result.details.endswith("end")


@pytest.mark.parametrize(
    "text",
    [
        None,
        b"<testsuites />",
        "no XML",
        "<html><body>x</body></html>",
        junit("<testcase name='a'>"),
        junit("<testcase name='a' />") + " " * CHARACTERS_AT_MOST,
        '<!DOCTYPE x [<!ENTITY a "aaaa">]><testsuites><testsuite name="&a;" /></testsuites>',
        HEAD + '<!DOCTYPE x SYSTEM "file:///etc/passwd"><testsuites />',
        HEAD + HEAD + "<testsuites />",
        "<testsuites>" * 50_000,
        "<testsuite>" * 40_000 + "</testsuite>" * 40_000,
        '<?xml version="1.0" encoding="no-such"?><testsuites />x',
        "\udcff",
    ],
)
def test_whatever_else_it_is_it_is_refused(text):
    with pytest.raises(Unreadable):
        read_results(text)


@pytest.mark.parametrize(
    ("details", "message"),
    [
        ("('/a.py', 3, 'Skipped: no \\\"GPU\\\"')", 'no \\"GPU\\"'),
        ("('/a.py', 3, &quot;Skipped: it's not here&quot;)", "it's not here"),
        ("('/a.py', 3, 'other')", "('/a.py', 3, 'other')"),
        ("&quot;Skipped: " * 40_000, None),
    ],
    ids=range(4),
)
def test_why_a_file_is_skipped_is_found_in_time_that_grows_with_the_text(details, message):
    (result,) = read_results(
        junit(f'<testcase name="a"><skipped message="collection skipped">{details}</skipped></testcase>')
    )
    assert message is None or result.message == message
