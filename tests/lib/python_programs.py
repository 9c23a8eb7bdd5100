# SPDX-License-Identifier: Apache-2.0
"""
Real PyPI programs in Python under load (programs.py), for each environment of tools/deps.

In a script, $PYTHON is a link to the interpreter with a name of its own, so that the processes can
be distinguished, and $ENVIRONMENT is the folder of the environment.
"""
import shlex

import python_found
from programs import Program

APPLICATION = '''
import json, re
from flask import Flask, render_template_string, request

app = Flask(__name__)
PAGE = """<ul>{% for item in items %}{% if item.shown %}<li class="{{ loop.cycle('a', 'b') }}">
{{ item.name|upper|e }}: {{ item.values|join(', ') }}</li>{% endif %}{% endfor %}</ul>"""


class Item:
    def __init__(self, number):
        self.number = number

    @property
    def shown(self):
        return self.number % 3

    @property
    def name(self):
        return re.sub("[aeiou]", lambda match: match.group().upper(), "item <%d>" % self.number)

    @property
    def values(self):
        return sorted(range(self.number % 10), key=lambda value: -value)


@app.route("/page/<int:count>")
def page(count):
    return render_template_string(PAGE, items=[Item(i) for i in range(count)])


@app.route("/json")
def data():
    count = int(request.args.get("count", 50))
    return app.response_class(json.dumps({"items": [vars(Item(i)) for i in range(count)]},
                                         default=str), mimetype="application/json")
'''

NUMPY = '''
import numpy

def step(matrix, chance):
    product = matrix @ matrix.T
    values = numpy.linalg.eigvalsh(product)
    spectrum = numpy.abs(numpy.fft.rfft(matrix, axis=1)).sum(axis=0)
    order = numpy.argsort(chance.random(20000))
    joined = numpy.einsum("ij,jk->ik", matrix, matrix)
    apply = numpy.apply_along_axis(lambda row: row.mean() - row.std(), 1, matrix)
    return values[-1] + spectrum.max() + order[0] + joined.trace() + apply.sum()

def work():
    chance, total = numpy.random.default_rng(1), 0.0
    while True:
        total += step(chance.standard_normal((120, 120)), chance)

work()
'''


def _gunicorn():
    return (
        f"cat >application.py <<'END'\n{APPLICATION}END\n",
        """
$PYTHON -m gunicorn -w 2 -b 127.0.0.1:7010 --worker-class sync --log-level error \
    application:app 2>>log &
until_ok bash -c ': </dev/tcp/127.0.0.1/7010'
again wrk -t 1 -c 4 -d 1h http://127.0.0.1:7010/page/60 &
again wrk -t 1 -c 4 -d 1h http://127.0.0.1:7010/json?count=40 &
ready
""", ("wrk", "ip"))


def _threaded():
    return (
        f"cat >application.py <<'END'\n{APPLICATION}END\n",
        """
$PYTHON -m gunicorn -w 1 --threads 8 -b 127.0.0.1:7011 --log-level error application:app 2>>log &
until_ok bash -c ': </dev/tcp/127.0.0.1/7011'
again wrk -t 1 -c 8 -d 1h http://127.0.0.1:7011/page/60 &
ready
""", ("wrk", "ip"))


def _pytest():
    return (
        "cp -r $ENVIRONMENT/source/click-8.1.8 click",
        """
cd click
for i in 1 2; do
    again env PYTHONPATH=src:$PYTHONPATH $PYTHON -m pytest -q -p no:cacheprovider \
        tests/test_options.py tests/test_arguments.py tests/test_formatting.py tests/test_utils.py &
done
cd ..
ready
""", ())


def _pip():
    return (
        """
cat >resolve.py <<'END'
import sys
from pip._internal.cli.main import main
while not main(sys.argv[2:]):
    open(sys.argv[1], "w").close()
END
""", """
for i in 1 2; do
    $PYTHON resolve.py resolved-$i install -q --dry-run --ignore-installed --no-index \
        --find-links $ENVIRONMENT/wheels --disable-pip-version-check --break-system-packages \
        flask black pytest gunicorn >>log 2>&1 &
done
until_ok test -e resolved-1 -a -e resolved-2
ready
""", ())


def _black():
    return (
        "cp -r $ENVIRONMENT/pure/black sources",
        """
for i in 1 2; do
    cp -r sources sources-$i
    again env PYTHONPATH=$ENVIRONMENT/pure:$PYTHONPATH BLACK_CACHE_DIR=$PWD/cache-$i \
        bash -c "rm -rf cache-$i && $PYTHON -m black -q -l 79 sources-$i/linegen.py && \
                 cp sources/linegen.py sources-$i" &
done
ready
""", ())


def _numpy():
    return (f"cat >job.py <<'END'\n{NUMPY}END\n",
            "OPENBLAS_NUM_THREADS=2 $PYTHON job.py &\nready\n", ())


# Functions that return preparation, load and tools, see programs.py.
KINDS = {"flask, gunicorn": _gunicorn, "flask, gunicorn with threads": _threaded,
         "pytest of click": _pytest, "pip resolving": _pip, "black": _black, "numpy": _numpy}


def _program(kind, make, number, one, folder):
    comm = f"py{number}-{list(KINDS).index(kind)}"
    prepare, load, tools = make()
    packages = next(folder.glob("lib/python3*/site-packages"))
    head = (f"ENVIRONMENT={shlex.quote(str(folder))} PYTHON=$PWD/bin/{comm}\n"
            f"export ENVIRONMENT PYTHON PYTHONPATH={shlex.quote(str(packages))}\n"
            "export PYTHONDONTWRITEBYTECODE=1\n")
    link = f"mkdir -p bin\nln -sf \"$(readlink -f $ENVIRONMENT/bin/python3)\" bin/{comm}\n"
    return Program(f"{kind}, Python {one}", (comm,), tools, head + load, head + link + prepare)


def programs():
    """Return the programs of every environment."""
    return [_program(kind, make, number, one, folder)
            for number, (one, folder) in enumerate(python_found.environments())
            for kind, make in KINDS.items()]
