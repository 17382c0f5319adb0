import pytest
from click.testing import CliRunner

import selfselect
from selfselect.cli import BadInput, main
from selfselect.cli._files import write_whole


def test_demo_shows_what_self_selection_does_to_a_naive_model_and_ends_with_a_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["demo"])
    assert result.exit_code == 0, result.output
    assert "Asian-Pac-Islander" in (tmp_path / "selfselect-demo.html").read_text()
    assert "Open it in any browser" in result.output
    assert "selfselect-demo-2.html" in CliRunner().invoke(main, ["demo"]).output
    assert CliRunner().invoke(main, ["demo", "--report", "selfselect-demo.html"]).exit_code == 2
    for words in ("Asian-Pac-Islander", "precision", "induced accuracy", "social cost", "nobody"):
        assert words in result.output


def test_help_lists_every_command_and_version_is_the_packages():
    assert "demo" in CliRunner().invoke(main, ["--help"]).output
    assert selfselect.__version__ in CliRunner().invoke(main, ["--version"]).output


def test_an_unknown_command_is_bad_usage():
    assert CliRunner().invoke(main, ["frobnicate"]).exit_code == 2


def test_the_librarys_complaints_become_a_message_and_exit_code_two(monkeypatch):
    def complain(echo):
        raise ValueError("cost must lie in [0, 1]")

    monkeypatch.setattr("selfselect.demo.run", complain)
    result = CliRunner().invoke(main, ["demo"])
    assert result.exit_code == 2
    assert "cost must lie in [0, 1]" in result.output
    monkeypatch.setenv("SELFSELECT_DEBUG", "1")
    assert isinstance(CliRunner().invoke(main, ["demo"]).exception, ValueError)


def test_files_are_written_whole_and_never_over_others_unless_asked(tmp_path):
    path = tmp_path / "out.txt"
    write_whole(path, "first", force=False)
    with pytest.raises(BadInput, match=r"exists already.*--force"):
        write_whole(path, "second", force=False)
    assert path.read_text() == "first"
    write_whole(path, b"third", force=True)
    assert path.read_bytes() == b"third"
    assert [p.name for p in tmp_path.iterdir()] == ["out.txt"]
    with pytest.raises(BadInput, match="Cannot write"):
        write_whole(tmp_path / "no" / "folder.txt", "x", force=False)


@pytest.mark.parametrize("command", ["audit", "plan", "train", "predict"])
def test_help_shows_an_example_on_a_line_of_its_own(command):
    lines = CliRunner().invoke(main, [command, "--help"]).output.splitlines()
    assert any(line.startswith(f"    selfselect {command} ") for line in lines)


@pytest.fixture
def people_csv(tmp_path):
    path = tmp_path / "people.csv"
    rows = ["outcome,team,decision,s"]
    rows += [
        f"{'hired' if i % 3 else 'rejected'},{'ab'[i % 2]},{'invite' if i % 4 else 'decline'},{i / 100}"
        for i in range(100)
    ]
    path.write_text("\n".join(rows))
    return path


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_decisions_in_other_words_than_labels_are_not_taken_for_nobody(people_csv):
    common = ("audit", people_csv, "--label", "outcome", "--positive", "hired", "--group", "team", "--cost", "0.5")
    unclear = run(*common, "--prediction", "decision")
    assert unclear.exit_code == 2
    assert "--prediction-positive" in unclear.output
    clear = run(*common, "--prediction", "decision", "--prediction-positive", "invite")
    assert clear.exit_code == 0
    assert "nobody applies" not in clear.output
    assert run(*common, "--prediction", "decision", "--prediction-positive", "Yes").exit_code == 2
    assert run(*common, "--prediction", "outcome").exit_code == 0  # the label's own words need no saying


def test_outputs_never_replace_inputs_devices_or_each_other(people_csv, tmp_path):
    common = ("audit", people_csv, "--label", "outcome", "--positive", "hired", "--group", "team", "--score", "s")
    common += ("--cost", "0.5", "--force")
    before = people_csv.read_text()
    for options, message in (
        (("--json", people_csv), "is read by this command"),
        (("--json", "/dev/null"), "not an ordinary file"),
        (("--csv", "-"), "only for --json"),
        (("--json", tmp_path / "x", "--csv", tmp_path / "x"), "named for two outputs"),
        (("--json", tmp_path / "good.json", "--csv", tmp_path / "no" / "x.csv"), "there is no folder"),
    ):
        result = run(*common, *options)
        assert result.exit_code == 2
        assert message in result.output
    assert people_csv.read_text() == before
    assert [p.name for p in tmp_path.iterdir()] == ["people.csv"]
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "real.json")
    assert run(*common, "--json", link).exit_code == 0
    assert link.is_symlink()
    assert (tmp_path / "real.json").exists()


@pytest.mark.parametrize("options", [("--max-social-cost", "nan"), ("--threshold", "inf"), ("--threshold", "nan")])
def test_a_condition_that_is_no_number_is_refused(people_csv, options):
    common = ("audit", people_csv, "--label", "outcome", "--positive", "hired", "--group", "team", "--score", "s")
    assert run(*common, "--cost", "0.5", *options).exit_code == 2


def test_a_word_among_numbers_is_named_before_training(people_csv, tmp_path):
    lines = people_csv.read_text().splitlines()
    lines[7] = lines[7].rsplit(",", 1)[0] + ",high"
    people_csv.write_text("\n".join(lines))
    result = run(
        "train", people_csv, "--label", "outcome", "--positive", "hired", "--group", "team", "--cost", "0.5",
        "--model", tmp_path / "m.json",
    )  # fmt: skip
    assert result.exit_code == 2
    assert "'s' holds numbers except in 1 row(s), first 'high' in row 7" in result.output


def test_an_interrupt_is_not_a_failed_condition(monkeypatch):
    def interrupted(echo):
        raise KeyboardInterrupt

    monkeypatch.setattr("selfselect.demo.run", interrupted)
    assert run("demo").exit_code == 130


def test_reading_a_store_never_makes_one(tmp_path):
    empty = tmp_path / "empty.sqlite"
    empty.touch()
    assert run("status", "--store", empty).exit_code == 2
    assert empty.stat().st_size == 0
    assert run("reproduce", "--dry-run", "--dataset", "adult").exit_code == 0
    assert run("reproduce", "--dataset", "adult").exit_code == 2
