"""Writing model files: as a whole or not at all."""

from __future__ import annotations

import os
import stat
from typing import Any

import pytest

import lessnaive
from lessnaive import NaiveBayes
from model_files import labels, mixed_table


class TestWriting:
    @pytest.fixture
    def model(self) -> NaiveBayes:
        return NaiveBayes().fit(mixed_table(), labels(2))

    @pytest.mark.parametrize("broken", ["write", "fsync", "chmod", "replace"])
    def test_a_failure_leaves_the_old_file(
        self, broken: str, model: NaiveBayes, tmp_path: Any, monkeypatch: Any
    ) -> None:
        path = tmp_path / "model.json"
        path.write_text("old")

        def fail(*_: Any) -> Any:
            raise OSError(28, "No space left on device")

        if broken == "write":
            monkeypatch.setattr("lessnaive.export.model_file.json_lines", FailingLines)
        else:
            monkeypatch.setattr(os, broken, fail)
        with pytest.raises(OSError, match="No space left on device"):
            lessnaive.save(model, path)
        monkeypatch.undo()
        assert path.read_text() == "old"
        assert os.listdir(tmp_path) == ["model.json"]

    def test_an_interrupt_leaves_nothing(
        self, model: NaiveBayes, tmp_path: Any, monkeypatch: Any
    ) -> None:
        def interrupt(*_: Any) -> Any:
            raise KeyboardInterrupt

        monkeypatch.setattr(os, "replace", interrupt)
        with pytest.raises(KeyboardInterrupt):
            lessnaive.save(model, tmp_path / "model.json")
        assert os.listdir(tmp_path) == []

    @pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
    def test_permissions(self, model: NaiveBayes, tmp_path: Any) -> None:
        path = tmp_path / "model.json"
        before = os.umask(0o027)
        try:
            lessnaive.save(model, path)
            assert stat.S_IMODE(path.stat().st_mode) == 0o640
            path.chmod(0o604)
            lessnaive.save(model, path)
            assert stat.S_IMODE(path.stat().st_mode) == 0o604
        finally:
            os.umask(before)

    @pytest.mark.skipif(os.name != "posix", reason="links need rights elsewhere")
    def test_a_link_stays_a_link(self, model: NaiveBayes, tmp_path: Any) -> None:
        (tmp_path / "store").mkdir()
        (tmp_path / "link.json").symlink_to(tmp_path / "store" / "model.json")
        lessnaive.save(model, tmp_path / "link.json")
        lessnaive.save(model, tmp_path / "link.json")
        assert (tmp_path / "link.json").is_symlink()
        assert os.listdir(tmp_path / "store") == ["model.json"]

    @pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="needs named descriptors")
    def test_a_pipe_is_written_to(self, model: NaiveBayes, tmp_path: Any) -> None:
        small = NaiveBayes(numeric="gaussian").fit([[1.0], [2.0]], [0, 1])
        read, write = os.pipe()
        lessnaive.save(small, f"/dev/fd/{write}")
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            (tmp_path / "model.json").write_bytes(pipe.read())
        assert lessnaive.load(tmp_path / "model.json").predict([[2.0]]).tolist() == [1]

    def test_places_that_cannot_be_written(self, model: NaiveBayes, tmp_path: Any) -> None:
        with pytest.raises(FileNotFoundError) as caught:
            lessnaive.save(model, tmp_path / "absent" / "model.json")
        assert caught.value.filename == str(tmp_path / "absent" / "model.json")
        with pytest.raises(IsADirectoryError):
            lessnaive.save(model, tmp_path)
        assert os.listdir(tmp_path) == []


class FailingLines:
    """A text that breaks off after more than any buffer holds."""

    def __init__(self, _: Any) -> None:
        self._left = 100

    def __iter__(self) -> FailingLines:
        return self

    def __next__(self) -> str:
        self._left -= 1
        if self._left < 0:
            raise OSError(28, "No space left on device")
        return "x" * 10**4
