"""The command `graphmem`: a memory from the terminal. `main` runs one command line and returns its exit code.

| code | means                                                                    |
|------|--------------------------------------------------------------------------|
| 0    | done                                                                     |
| 1    | `verify` found something broken; `entity`, `why-not` know no such item   |
| 2    | the command line or an input is not what is allowed                      |
| 3    | the memory file, the model or the embedder failed                        |
| 4    | something is not installed                                               |
"""

from __future__ import annotations

from graphmem.cli.app import main

__all__ = ["main"]
