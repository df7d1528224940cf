#!/usr/bin/env python3
"""A browser with a person at it, for programs that open one: goes through the pages, and then back to the program.

usage: browser.py ADDRESS
"""

import pathlib
import subprocess
import sys
import urllib.request

PERSON = pathlib.Path(__file__).with_name("person.py")
walked = subprocess.run([sys.executable, PERSON, sys.argv[1]], stdout=subprocess.PIPE, text=True, check=True)
urllib.request.urlopen(walked.stdout.strip(), timeout=30).read()
