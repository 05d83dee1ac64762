"""The golden generator: the same bytes every time, and nobody else's files touched."""

from __future__ import annotations

import hashlib
import importlib
import json
import shutil
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pytest
from typer.testing import CliRunner

from places import GOLDEN_FILES
