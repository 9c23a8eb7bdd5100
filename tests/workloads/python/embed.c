// SPDX-License-Identifier: Apache-2.0
/*
 * A program with an embedded interpreter: calls from C into Python, from there into C, and back
 * into Python; then runs without the interpreter, and with it once more.
 *
 *   embed SECONDS
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define APART __attribute__((noinline, noipa))

static const char source[] = "import embed, time\n"
			     "def inner(seconds):\n"
			     "    end = time.process_time() + seconds\n"
			     "    total = 0\n"
			     "    while time.process_time() < end:\n"
			     "        for i in range(1000):\n"
			     "            total += i\n"
			     "    return total\n"
			     "def outer(seconds):\n"
			     "    return embed.back(inner, seconds)\n"
			     "outer(%s)\n";

APART PyObject *embed_back(PyObject *self, PyObject *args)
{
	PyObject *function, *seconds;

	(void)self;
	if (!PyArg_ParseTuple(args, "OO", &function, &seconds))
		return NULL;
	return PyObject_CallFunctionObjArgs(function, seconds, NULL);
}

static PyMethodDef methods[] = {
	{"back", embed_back, METH_VARARGS, ""},
	{NULL, NULL, 0, NULL},
};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "embed", .m_size = -1,
				    .m_methods = methods};

static PyObject *embed_init(void)
{
	return PyModule_Create(&module);
}

APART int embed_python(const char *seconds)
{
	char text[sizeof(source) + 32];
	int rc;

	snprintf(text, sizeof(text), source, seconds);
	Py_InitializeEx(0);
	rc = PyRun_SimpleString(text);
	return Py_FinalizeEx() || rc;
}

APART unsigned int embed_alone(double seconds)
{
	clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
	unsigned int total = 0;

	while (clock() < end)
		for (unsigned int i = 0; i < 10000; i++)
			total = total * 31 + i;
	return total;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	PyImport_AppendInittab("embed", embed_init);
	for (int i = 0; i < 2; i++) {
		if (embed_python(argv[1]))
			return 1;
		embed_alone(atof(argv[1]) / 4);
	}
	return 0;
}
