"""The code of the manual runs."""
import contextlib
import io
import os
import pathlib
import re
import tempfile
import unittest

from support import kinds


class Manual(unittest.TestCase):
    def test_its_code(self):
        text = (pathlib.Path(__file__).resolve().parent.parent / "README.md").read_text()
        blocks = re.findall(r"```python\n(.*?)```", text, re.S)
        self.assertEqual(len(blocks), 5)
        names = {"rows": kinds([0, 1, 2], 400)[0]}
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                with contextlib.redirect_stdout(io.StringIO()) as said:
                    for block in blocks:
                        exec(compile(block, "README.md", "exec"), names)
            finally:
                os.chdir(before)
        self.assertIn("novelty", said.getvalue())
        self.assertEqual(names["model"].info().rows, 800)


if __name__ == "__main__":
    unittest.main()
