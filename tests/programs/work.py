# SPDX-License-Identifier: Apache-2.0
"""What python does all day: its interpreter, its collector and its C libraries, in threads too."""
import bz2
import collections
import decimal
import hashlib
import itertools
import json
import os
import random
import re
import sqlite3
import threading
import zlib


class Tree:
    def __init__(self, key):
        self.key, self.left, self.right, self.parent = key, None, None, self

    def insert(self, key):
        side = "left" if key < self.key else "right"
        below = getattr(self, side)
        if below:
            below.insert(key)
        else:
            setattr(self, side, Tree(key))

    def __iter__(self):
        if self.left:
            yield from self.left
        yield self.key
        if self.right:
            yield from self.right


def turn(chance):
    keys = [chance.random() for _ in range(400)]
    root = Tree(keys[0])
    for key in keys:
        root.insert(key)
    words = collections.Counter(f"word-{int(k * 997)}" for k in itertools.chain(root, keys))
    text = json.dumps(sorted(words.items(), key=lambda item: (item[1], item[0])))
    back = json.loads(re.sub(r"word-(\d+)", lambda m: f"name {int(m[1]) * 2}", text))
    decimal.Decimal(len(back)).sqrt(decimal.Context(prec=200))
    data = text.encode() * 8
    zlib.compress(data)
    bz2.compress(data[:4000])
    hashlib.sha256(data).hexdigest()
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE t (a, b)")
    base.executemany("INSERT INTO t VALUES (?, ?)", back)
    base.execute("SELECT b, count(*) FROM t GROUP BY b ORDER BY 2").fetchall()
    base.close()
    pow(int(keys[0] * 10 ** 300), 3, 10 ** 301 + 7)
    os.stat("/")
    try:
        back["no such key"]
    except TypeError:
        pass


def forever(seed):
    chance = random.Random(seed)
    while True:
        turn(chance)


threading.Thread(target=forever, args=(1,), daemon=True).start()
forever(0)
