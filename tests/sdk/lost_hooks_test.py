#!/usr/bin/env python3
"""A member function that looks like a hook and is none does not compile, and the message says why.

usage: lost_hooks_test.py INCLUDE_FOLDER

Tried with each compiler that is here, and with libc++ where it is. The C headers alone are also for
plugins without exceptions.
"""
import os
import sys
import tempfile

from compilers import compilers

FILTER = "void filter(const sluice::FilterQuery&, sluice::FilterAnswer&) const {}"
VETO = "void veto(const sluice::VetoQuery&, sluice::VetoAnswer&) const {}"
HIDDEN = "is the name of a hook, and here it is overloaded or not public"
# what, the class, what the compiler says; empty: it compiles
CASES = [
    ("as it should be", f"class P {{ public: {FILTER} {VETO} }};", ""),
    ("private beside another hook", f"class P {{ {FILTER} public: {VETO} }};", HIDDEN),
    ("protected beside another hook", f"class P {{ protected: {FILTER} public: {VETO} }};", HIDDEN),
    ("overloaded", f"class P {{ public: {FILTER} void filter(int) const {{}} {VETO} }};", HIDDEN),
    ("private in a final class", f"class P final {{ {FILTER} public: {VETO} }};",
     "the class of a plugin must not be final"),
    ("another signature", f"class P {{ public: void filter(int) const {{}} {VETO} }};",
     "write it as: void filter(const sluice::FilterQuery&, sluice::FilterAnswer&) const"),
    ("not const in a cycle", "class P { public: void veto(const sluice::VetoQuery&, "
     "sluice::VetoAnswer&) {} };", "write it as: void veto("),
    ("half a controller", f"class P {{ public: {VETO} sluice::Again reconcile(const "
     "sluice::ObjectRef&) { return {}; } };", "half a controller"),
    ("nothing at all", "class P { public: void filters() const {} };", "this class has no hook"),
]


def main(include):
    wrong = tried = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "plugin.cpp")
        for compiler in compilers(include, folder, "-Wall", "-Wextra", "-Werror"):
            for what, text, message in CASES:
                with open(path, "w", encoding="utf-8") as file:
                    file.write('#include <sluice/plugin.hpp>\n' + text +
                               '\nSLUICE_PLUGIN(P, "p", "1.0.0")\n')
                said = compiler.refuses(path, "sluice/plugin.hpp")
                tried += 1
                if bool(said) != bool(message) or message not in said:
                    wrong += 1
                    print(f"{compiler.name}, {what}: expected {message!r}:\n{said[:2000]}")
            with open(path, "w", encoding="utf-8") as file:
                file.write("#include <sluice/sluice.h>\n#include <sluice/c/json.h>\n")
            said = compiler.refuses(path, None, "-fno-exceptions", "-fno-rtti")
            tried += 1
            if said:
                wrong += 1
                print(f"{compiler.name} without exceptions: {said[:2000]}")
    print(f"{tried} compilations")
    return 1 if wrong or not tried else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
