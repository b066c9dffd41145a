"""What strangers, other sites, hostile answers and the wrong role get: nothing."""

from __future__ import annotations

import os
import re
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from urllib.parse import quote

import pytest
import requests

from grader.review.demo import record
from grader.review.files import file_of, shown_file
from grader.review.page_pictures import PagePictures
from grader.review.peer import account_of
from grader.review.safety import Guard

HOSTILE = {
    "1": "<script>document.title='taken'</script><img src=x onerror=document.title='taken'>",
    "2": "\u202e\u2066 right to left \u2069\u202c <style>body{display:none}</style>",
    "3": "32 threads <svg onload=alert(1)><a href=javascript:alert(1)>x</a></svg>",
    "4": '"><form action=/a/demo/publish method=post><input name=publish value=1></form>',
    "5": "{{ 7*7 }} {% raw %} " + "A" * 300_000,
}
ODD = {
    "1": "A" * 1_000_000,
    "2": "nul\0l <script>\0document.title='taken'</script>\0",
    "3": "data:text/html,<script>alert(1)</script> <a href=data:text/html;base64,PHNjcmlwdD4>32</a>",
    "4": "@import url(http://evil.example/a); </textarea></style><math><style><img src=x onerror=alert(1)>",
    "5": "<base href=//evil.example/><meta http-equiv=refresh content=0;url=//evil.example><iframe src=/>",
}
NAMES = ("m\u0430llory_1", "<img src=x onerror=alert(1)>", "\u202eecila_1", "zo\u0335\u0336\u0337e " * 20)
"""Of students: a Cyrillic letter, markup, right to left, many marks and much of it."""
FILES = (
    "answers.md",
    "<img src=x onerror=document.title='taken'>.md",
    "a&b\"'?file=answers.md#x.md",
    "\u202egnp.exe",
)
PAGES = (
    "",
    "/submissions",
    "/submissions?show=unanswered",
    "/submissions?show=near",
    "/fairness",
    "/requests",
    "/publish",
    "/audit",
)


def hostile_class(demo) -> list[int]:
    """Record hostile answers, names and names of files; return the numbers of the submissions."""
    before = {entry.number for entry in demo.room.index.refresh().entries}
    record(demo.book, demo.desk, demo.results, "mallory_1", HOSTILE)
    record(demo.book, demo.desk, demo.results, "mallory_2", ODD)
    model = max(demo.room.index.refresh().entries, key=lambda entry: entry.number)
    evidence = demo.book.evidence(model.attempt)
    for place, name in enumerate(NAMES):
        submission = replace(evidence.submission, student=name, digest=f"sha256:{place}", files=FILES)
        other = replace(evidence, submission=submission)
        demo.book.record(other, demo.desk.judge.card(submission, other.observations), how="record")
        workspace = demo.results / "demo" / name.replace("/", "") / "workspace"
        workspace.mkdir(parents=True)
        for file in FILES:
            (workspace / file).write_text(f"{file}\0".replace("\0", "") + "<script>1</script>")
    return sorted({entry.number for entry in demo.room.index.refresh().entries} - before)


def changes(demo) -> int:
    with closing(sqlite3.connect(demo.path)) as book:
        tables = ("points", "phrases", "requests", "replies", "publications", "readings", "audit")
        return sum(book.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables)


def test_without_the_link_there_is_nothing_to_see(demo):
    for path in ("/", "/a/demo", "/a/demo/submissions", "/a/demo/s/1/staff.html", "/no/such/page"):
        response = requests.get(demo.address + path, timeout=60)
        assert response.status_code == 403
        assert "ada" not in response.text
    assert requests.get(f"{demo.address}/enter?token=wrong", timeout=60).status_code == 403
    assert requests.get(f"{demo.address}/enter", timeout=60).status_code == 403
    assert requests.post(f"{demo.address}/a/demo/undo", timeout=60).status_code == 403
    assert changes(demo) == 0


def test_the_cookie_is_for_this_site_alone_and_not_for_scripts(demo):
    response = requests.get(
        f"{demo.address}/enter?token={demo.tokens['Ada']}", allow_redirects=False, timeout=60
    )
    cookie = response.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert demo.tokens["Ada"] not in response.headers["set-cookie"]


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_a_form_of_another_site_changes_nothing(demo, headers):
    ada = demo.visitor()
    data = {"csrf": ada.word(), "publish": "1"}
    response = ada.client.post(f"{demo.address}/a/demo/publish", data=data, headers=headers)
    assert response.status_code == 403
    assert changes(demo) == 0


@pytest.mark.parametrize("word", ["", "wrong", "é" * 40])
def test_a_form_without_the_word_of_its_session_changes_nothing(demo, word):
    ada, bob = demo.visitor(), demo.visitor("Bob")
    for value in (word, bob.word()):
        data = {"csrf": value, "publish": "1"}
        assert ada.client.post(f"{demo.address}/a/demo/publish", data=data).status_code == 403
    assert changes(demo) == 0


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8700", "127.0.0.1", "127.0.0.1.evil.example:1"]
)
def test_another_name_for_this_address_is_refused(demo, host):
    response = demo.visitor().client.get(f"{demo.address}/a/demo", headers={"host": host})
    assert response.status_code == 421


@pytest.mark.parametrize(
    ("host", "allowed"), [("192.0.2.7:9", True), ("[2001:db8::1]:9", True), ("evil.example:9", False)]
)
def test_on_all_addresses_an_address_is_ours_and_a_strange_name_is_not(demo, host, allowed):
    guard = Guard(None, door=demo.door, hosts=("here:9",), cookie="c", any_ip=True)
    assert guard._is_here(host) is allowed
    assert guard._is_here("here:9")
    assert not Guard(None, door=demo.door, hosts=("here:9",), cookie="c")._is_here(host)


@pytest.mark.parametrize("digits", ["9" * 5000, "-1", "1e3", "²", "٣"])
def test_odd_numbers_are_none(demo, digits):
    ada = demo.visitor()
    number = demo.room.index.refresh().entries[0].number
    assert ada.give("writing", number, 1, after=digits).status_code == 200
    assert ada.page(f"/a/demo/submissions?page={digits}").status_code == 200
    assert ada.post("/a/demo/requests", submission=digits, item="writing", text="x").status_code == 200


def test_every_answer_tells_the_browser_to_run_nothing_of_others(demo):
    ada = demo.visitor()
    for path in (
        "/",
        *(f"/a/demo{page}" for page in PAGES),
        "/static/review.js",
        "/a/demo/s/9999",
        "/nothing",
    ):
        headers = ada.page(path).headers
        assert "script-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"].startswith("no-store") or path.startswith("/static/")
    report = ada.page("/a/demo/s/1/student.html").headers["content-security-policy"]
    assert "default-src 'none'" in report
    assert "sandbox" in report
    assert "script-src" not in report


def test_no_page_of_ours_needs_what_its_policy_refuses(demo):
    ada = demo.visitor()
    number = demo.room.index.refresh().entries[0].number
    pages = [f"/a/demo{page}" for page in PAGES]
    for path in (*pages, f"/a/demo/s/{number}", f"/a/demo/q/q1.memory/{number}"):
        text = ada.get(path)
        assert not re.search(r"<[^>]+\sstyle=|<[^>]+\son\w+=|<style|<script(?! src=\"/static/)", text), path


def hostile_paths(demo, numbers: list[int]) -> list[str]:
    paths = [f"/a/demo/q/{item}/{number}" for item in demo.desk.items for number in numbers[:2]]
    for number in numbers:
        paths += [f"/a/demo/s/{number}{rest}" for rest in ("", "/staff.html", "/student.html")]
        paths += [f"/a/demo/s/{number}?file={quote(name)}" for name in FILES]
    return paths


def test_hostile_answers_are_text(demo):
    numbers = hostile_class(demo)
    assert len(numbers) == 2 + len(NAMES)
    ada = demo.visitor()
    ada.give("q1.memory", numbers[0], 0, 0, 0, 0, comment="<script>1</script>", keep=1)
    ada.post("/a/demo/requests", submission=numbers[0], item="q1.memory", text="<script>2</script>")
    paths = hostile_paths(demo, numbers) + [f"/a/demo{page}" for page in PAGES] + ["/a/demo/requests/1"]
    ada.post("/a/demo/names", show=1)
    for path in paths:
        text = ada.get(path)
        for markup in (
            "<script>",
            "<img src=x",
            "<style>body",
            "<svg onload",
            "<a href=javascript",
            "<form action=/a",
            "<base",
            "<iframe src=/",
            "<meta http-equiv=refresh",
            "<a href=data",
            'href="data:text',
            "<math",
        ):
            assert markup not in text, (path, markup)
        assert "\u202e" not in text
        assert "\u2066" not in text
        assert "\0" not in text
        assert len(text) < 400_000


def test_names_are_hidden_until_somebody_asks_and_that_is_noted(demo):
    ada = demo.visitor()
    number = demo.room.index.refresh().entries[3].number
    student = demo.room.index.entry(number).submission.student
    assert student.startswith("chen")
    paths = [f"/a/demo{page}" for page in PAGES]
    paths += [f"/a/demo/q/{item}/{number}" for item in demo.desk.items]
    paths += [f"/a/demo/s/{number}{rest}" for rest in ("", "/staff.html", "/student.html")]
    for path in paths:
        assert "chen" not in ada.get(path), path
    assert "There are none." in ada.get("/a/demo/submissions?search=chen")
    ada.post("/a/demo/names", show=1)
    assert student in ada.get(f"/a/demo/s/{number}")
    assert student in ada.get(f"/a/demo/s/{number}/staff.html")
    assert "names: shown" in demo.texts(ada.get("/a/demo/audit"))
    assert "chen" not in demo.visitor("Bob").get(f"/a/demo/s/{number}")


def test_an_assistant_grades_and_a_teacher_publishes(demo):
    bob = demo.visitor("Bob")
    assert bob.page("/a/demo/audit").status_code == 403
    for path, fields in (("publish", {"publish": 1}), ("q/q1.memory/criteria", {"plan": ""})):
        before = changes(demo)
        assert bob.post(f"/a/demo/{path}", **fields).status_code == 403
        assert changes(demo) == before
    assert 'name="publish"' not in bob.get("/a/demo/publish")


def test_every_change_has_a_line_in_the_audit(demo):
    ada = demo.visitor()
    number = demo.room.index.refresh().next_open(demo.desk.items["q1.memory"]).number
    ada.give("q1.memory", number, 1, 1, 1, 1, comment="fine", keep=1)
    ada.post("/a/demo/undo")
    ada.post("/a/demo/publish", publish=1)
    ada.post("/a/demo/requests", submission=number, item="q1.memory", text="why?")
    ada.post("/a/demo/requests/1", text="because")
    with closing(sqlite3.connect(demo.path)) as book:
        lines = book.execute("SELECT action, by, role FROM audit ORDER BY id").fetchall()
    actions = ["points", "comment kept", "undo", "published", "request recorded", "request answered"]
    assert lines == [(action, "Ada", "teacher") for action in actions]


def test_only_files_that_were_handed_in_are_shown_and_only_as_text_or_pixels(demo, tmp_path):
    entry = demo.room.index.refresh().entries[0]
    workspace = demo.results / "demo" / entry.submission.student / "workspace"
    ada = demo.visitor()
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret")
    for name in (
        "../../../../secret.txt",
        str(secret),
        "answers.md/../../evidence.jsonl",
        "%2e%2e/secret.txt",
    ):
        assert "the secret" not in ada.get(f"/a/demo/s/{entry.number}?file={name}")
        assert ada.page(f"/a/demo/s/{entry.number}/picture?file={name}").status_code == 404
    (workspace / "answers.md").unlink()
    (workspace / "answers.md").symlink_to(secret)
    assert file_of(workspace, entry, "answers.md") is None
    assert "the secret" not in ada.get(f"/a/demo/s/{entry.number}?file=answers.md")
    (workspace / "answers.md").unlink()
    (workspace / "answers.md").write_text("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>")
    assert ada.page(f"/a/demo/s/{entry.number}/picture?file=answers.md").status_code == 404
    assert shown_file(workspace / "answers.md", "answers.svg").kind == "text"
    (workspace / "answers.md").write_bytes(b"\x89PNG\r\n\x1a\n<script>")
    response = ada.page(f"/a/demo/s/{entry.number}/picture?file=answers.md")
    assert response.headers["content-type"] == "image/png"
    assert response.headers["x-content-type-options"] == "nosniff"


def test_a_damaged_document_has_no_pages_and_a_whole_one_becomes_pixels(tmp_path):
    from grader.packing.pdf import pdf

    pictures = PagePictures()
    damaged = tmp_path / "damaged.pdf"
    damaged.write_bytes(b"%PDF-1.7\n" + b"nothing" * 1000)
    assert pictures.count(damaged) == 0
    assert pictures.page(damaged, 1) == b""
    whole = tmp_path / "whole.pdf"
    whole.write_bytes(pdf("A page\n\nwith a line"))
    assert pictures.count(whole) == 1
    assert pictures.page(whole, 1).startswith(b"\x89PNG")
    assert pictures.page(whole, 2) == b""


def test_a_form_that_is_too_large_is_refused(demo):
    ada = demo.visitor()
    response = ada.post("/a/demo/requests", submission=1, item="q1.memory", text="x" * 300_000)
    assert response.status_code == 413
    chunks = (b"text=" + b"x" * 1000 for _ in range(300))
    response = ada.client.post(f"{demo.address}/a/demo/requests", data=chunks)
    assert response.status_code == 413
    assert changes(demo) == 0


# another user of the machine


AS_NOBODY = """
import encodings.idna, os, socket, sys
os.setgid(65534), os.setuid(65534)
host, port, cookie = sys.argv[1:]
with socket.create_connection((host, int(port))) as server:
    lines = "GET /a/demo HTTP/1.1", f"Host: {host}:{port}", f"Cookie: {cookie}", "Connection: close", "", ""
    server.sendall("\\r\\n".join(lines).encode())
    print(server.makefile().read())
"""


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to become somebody else")
def test_a_cookie_that_another_user_of_the_machine_has_read_opens_nothing(demo):
    ada = demo.visitor()
    cookie = "; ".join(f"{each.name}={each.value}" for each in ada.client.cookies)
    host, port = demo.address.removeprefix("http://").split(":")
    command = [sys.executable, "-c", AS_NOBODY, host, port, cookie]
    answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert answer.startswith("HTTP/1.1 403 ")
    assert "this browser's link was opened by another account of this machine" in answer
    assert ada.page("/a/demo").status_code == 200


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_the_account_at_the_other_end_of_a_connection_is_known(address):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with (
        socket.create_server((address, 0), family=family) as server,
        socket.create_connection(server.getsockname()[:2]) as client,
    ):
        ends = client.getsockname()[:2], server.getsockname()[:2]
        assert account_of(*ends) == os.getuid()
        assert account_of(("192.0.2.7", 9), ends[1]) is None
        assert account_of(*ends, tables=()) is None


def test_a_socket_of_both_kinds_of_addresses_is_found(tmp_path):
    table = tmp_path / "tcp6"
    client = "0000000000000000FFFF00000100007F:C350"
    server = "0000000000000000FFFF00000100007F:21FC"
    table.write_text(f"head\n 0: {client} {server} 01 0:0 00:0 0 1234 0 1 1 0 20 4 0 10 -1\n")
    assert account_of(("127.0.0.1", 50000), ("127.0.0.1", 8700), [table]) == 1234


def test_a_browser_that_nobody_used_for_long_has_to_open_its_link_again(demo, monkeypatch):
    ada = demo.visitor()
    monkeypatch.setattr("grader.review.people.IDLE_S", -1.0)
    assert ada.page("/a/demo").status_code == 403
    monkeypatch.undo()
    assert ada.page("/a/demo").status_code == 403
    assert demo.visitor().page("/a/demo").status_code == 200


# a server that says what is wrong


def test_who_goes_away_in_the_middle_of_a_form_leaves_no_traceback(demo, caplog):
    ada = demo.visitor()
    cookie = "; ".join(f"{each.name}={each.value}" for each in ada.client.cookies)
    host, port = demo.address.removeprefix("http://").split(":")
    lines = "POST /a/demo/undo HTTP/1.1", f"Host: {host}:{port}", f"Cookie: {cookie}", "Content-Length: 99"
    with socket.create_connection((host, int(port))) as client:
        client.sendall("\r\n".join((*lines, "", "a")).encode())
        assert ada.page("/a/demo").status_code == 200
    for _ in range(3):
        assert ada.page("/a/demo").status_code == 200
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == []


def test_a_rubric_that_is_gone_is_a_line_until_it_is_back(demo):
    ada, text = demo.visitor(), demo.rubric.read_text()
    demo.rubric.unlink()
    response = ada.page("/a/demo")
    assert response.status_code == 503
    assert "demo.yaml" in response.text
    demo.rubric.write_text(text)
    assert ada.page("/a/demo").status_code == 200


def test_a_mistake_of_ours_is_a_page_with_what_to_do(demo, monkeypatch, caplog):
    ada = demo.visitor()
    monkeypatch.setattr("grader.review.grading_pages.progress", lambda _: 1 / 0)
    response = ada.page("/a/demo")
    assert response.status_code == 500
    assert "mistake of grader review itself" in response.text
    assert "ZeroDivisionError" in caplog.text


def test_a_gradebook_that_was_moved_is_a_line_and_nothing_is_said_to_be_saved(demo):
    ada = demo.visitor()
    number = demo.room.index.refresh().next_open(demo.desk.items["writing"]).number
    word = ada.word()
    away = demo.path.rename(demo.path.with_name("away.db"))
    response = ada.client.post(
        f"{demo.address}/a/demo/q/writing/{number}", data={"csrf": word, "part-0": "1", "after": "0"}
    )
    assert response.status_code == 503
    assert "was moved, deleted or replaced while it was open, and nothing was written" in response.text
    away.rename(demo.path)
    assert ada.give("writing", number, 1).status_code == 200


def test_there_are_two_reports_and_no_others(demo):
    assert demo.visitor().page("/a/demo/s/1/constructor.html").status_code == 404


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "PATCH", "PROPFIND"])
def test_another_method_neither_enters_nor_changes_anything(demo, method):
    assert requests.request(method, f"{demo.address}/a/demo", timeout=60).status_code == 403
    ada = demo.visitor()
    word = ada.word()
    for path in ("/a/demo", "/a/demo/publish", "/a/demo/undo"):
        response = ada.client.request(method, demo.address + path, data={"csrf": word, "publish": "1"})
        assert response.status_code == (200 if method == "HEAD" and path != "/a/demo/undo" else 405)
        assert response.text == "" or method != "HEAD"
    assert changes(demo) == 0


def test_a_websocket_does_not_enter(demo):
    ada = demo.visitor()
    headers = {
        "upgrade": "websocket",
        "connection": "Upgrade",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        "sec-websocket-version": "13",
    }
    assert requests.get(f"{demo.address}/alive", headers=headers, timeout=60).status_code == 403
    assert ada.client.get(f"{demo.address}/alive", headers=headers).status_code != 101


@pytest.mark.parametrize(
    "path",
    [
        "/static/../site.py",
        "/static/..%2fsite.py",
        "/static/%2e%2e%2fsafety.py",
        "/static//etc/passwd",
        "/a/..%2f..%2fx",
        "/a/demo/s/1%2f..%2f..",
        "/a/demo/q/%00/1",
        "/a/demo/s/99999999999999999999999",
        "/a/demo/requests/99999999999999999999",
    ],
)
def test_paths_that_climb_lead_nowhere(demo, path):
    cookie = "; ".join(f"{each.name}={each.value}" for each in demo.visitor().client.cookies)
    host, port = demo.address.removeprefix("http://").split(":")
    lines = f"GET {path} HTTP/1.1", f"Host: {host}:{port}", f"Cookie: {cookie}", "Connection: close", "", ""
    with socket.create_connection((host, int(port))) as client:  # `requests` would tidy the path up
        client.sendall("\r\n".join(lines).encode())
        assert client.makefile().readline().startswith("HTTP/1.1 404 ")
