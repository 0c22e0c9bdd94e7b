"""The page about an exciting trajectory: whole, locked, hostile names harmless, and drawn by a browser."""

import base64
import hashlib
import html
import re
from dataclasses import replace

import pytest

from dynid import exciting_trajectory, load_robot
from dynid.cli import main
from dynid.report.excitation import render
from helpers_browser import Browser, chromium

HOSTILE = "<img src=x onerror=alert(1)></script>{{ 7 * 7 }}"


@pytest.fixture(scope="module")
def page():
    robot = load_robot("planar2")
    joints = (replace(robot.joints[0], name=HOSTILE), robot.joints[1])
    return render(exciting_trajectory(replace(robot, joints=joints, name=HOSTILE), starts=1, period=4.0))


def test_names_are_data_and_only_its_own_scripts_run(page):
    assert "<img" not in page
    assert "49" not in re.findall(r"\{\{.*?\}\}", page.partition("<script")[0])
    scripts = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    assert len(scripts) == 2
    allowed = re.search(r"script-src (.*?);", html.unescape(page)).group(1)
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts]
    assert allowed.split() == [f"'sha256-{digest}'" for digest in hashes]
    assert "All limits are kept at every instant" in page


def test_the_command_writes_it_beside_the_trajectory(tmp_path, capsys):
    file = tmp_path / "page.html"
    arguments = ["excite", "gk3", "--basis", "points", "--model", "gravity", "--points", "4", "--starts", "1"]
    assert main([*arguments, "--report", str(file)]) == 0
    assert 'id="arm"' in file.read_text(encoding="utf-8")
    assert main([*arguments, "--report", str(file)]) == 2
    assert "exists" in capsys.readouterr().err


@pytest.mark.skipif(chromium() is None, reason="no Chromium on this machine")
def test_a_browser_draws_the_figure_and_the_arm(page, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(page, encoding="utf-8")
    with Browser() as browser:
        browser.open(file)
        assert browser.errors == []
        assert browser.run("document.querySelectorAll('#figure .scatterlayer .trace').length") == 8
        assert browser.run("document.getElementById('now').textContent") == "0.00 s"
        assert browser.run("document.getElementById('arm').width") > 100
