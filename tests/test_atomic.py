"""Files appear complete or not at all."""

import pytest

from immax.atomic import replacing, write_text


def test_text_is_written_to_new_folders(tmp_path):
    path = tmp_path / "new" / "note.txt"
    write_text(path, "ρ")
    assert path.read_text(encoding="utf-8") == "ρ"
    assert [file.name for file in path.parent.iterdir()] == ["note.txt"]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "note.txt"
    write_text(path, "old")

    def fail():
        with replacing(path) as part:
            part.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["note.txt"]
