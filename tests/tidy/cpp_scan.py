"""A small scanner of C++ text: enough to find function bodies, without a compiler.

blank() replaces comments, literals and preprocessor lines by spaces and keeps every line break, so
that positions stay true. functions() walks the braces of what is left.
"""

import functools
import re

_TOKEN = re.compile(
    r'//(?:\\\n|[^\n])*'  # a comment to the end of the line
    r'|/\*.*?\*/'
    r'|\bR"(?P<tag>[^\s()\\]{0,16})\(.*?\)(?P=tag)"'  # a raw string
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'"  # a character, but no digit separator
    r"|^[ \t]*\#(?:\\\n|[^\n])*",
    re.DOTALL | re.MULTILINE,
)
_TYPE_OR_NAMESPACE = re.compile(
    r'^\s*(?:template\s*<.*>\s*)?(?:(?:inline|typedef|static|constexpr|const)\s+)*'
    r'(?:namespace|class|struct|union|enum|extern)\b',
    re.DOTALL,
)


_MARK = re.compile(r'([{}();:])')
_NO_BREAK = re.compile(r'[^\n]+')


@functools.lru_cache(maxsize=1)  # one file is asked about several times
def blank(text):
    """The text with everything that is not code replaced by spaces."""
    return _TOKEN.sub(lambda m: _NO_BREAK.sub(lambda n: ' ' * len(n.group()), m.group()), text)


def _pieces(text):
    """(line at its end, piece): a bracket, semicolon or colon of the code, or what is between."""
    line = 1
    for piece in _MARK.split(blank(text)):
        line += piece.count('\n')
        if piece:
            yield line, piece


def _kind(header):
    """What a brace after `header` opens: 'scope', 'function' or 'value'."""
    header = header.strip()
    if _TYPE_OR_NAMESPACE.match(header) and not header.endswith(')'):
        return 'scope'
    if '(' in header and not re.search(r'=\s*$', header):
        return 'function'
    return 'value'


def functions(text):
    """(line, number of lines, name) of each function body that is not inside another one."""
    found = []
    stack = []  # (kind, header before it, line of the brace)
    header, parens, inside = '', 0, 0
    for line, piece in _pieces(text):
        if piece == '{':
            kind = 'value' if inside or parens else _kind(header)
            inside += kind == 'function'
            stack.append((kind, header, line))
            header = header if kind == 'value' else ''
        elif piece == '}' and stack:
            kind, before, start = stack.pop()
            if kind == 'function':
                inside -= 1
                found.append((start, line - start + 1, _name(before)))
            header = before + '{}' if kind == 'value' else ''
        elif not inside:
            parens += (piece == '(') - (piece == ')')
            header = '' if piece == ';' and parens == 0 else header + piece
    return found


def _name(header):
    match = re.search(r'([\w:~]+)\s*\(', header)
    return match.group(1) if match else '?'


_NAMESPACE = re.compile(r'^(?:inline\s+)?namespace\b\s*([\w:\s]*)$')
_TYPE = re.compile(
    r'^(?:class|struct|union|enum(?:\s+class|\s+struct)?)\s+(?:alignas\s*\([^)]*\)\s*)?'
    r'(?:\[\[.*?\]\]\s*)?(\w+(?:\s*::\s*\w+)*)\s*(?:final\s*)?(?::(?!:).*)?$',
    re.DOTALL,
)


def types(text):
    """(line, qualified name) of each type that is defined in a namespace with a name, and is no
    template specialisation."""
    found = []
    stack = []  # the names of namespaces; None where what is inside is not visible from outside
    header = ''
    for line, piece in _pieces(text):
        if piece == '{':
            words = ' '.join(header.split())
            namespace = _NAMESPACE.match(words)
            kind = _TYPE.match(re.sub(r'^template\s*<.*?>\s*(?=class|struct|union)', '', words))
            if namespace:
                stack.append(namespace.group(1).replace(' ', '') or None)
            elif words == 'extern':  # "C"
                stack.append('')
            else:
                if kind and None not in stack:
                    name = kind.group(1).replace(' ', '')
                    found.append((line, '::'.join([n for n in stack if n] + [name])))
                stack.append(None)
            header = ''
        elif piece == '}':
            if stack:
                stack.pop()
            header = ''
        else:
            header = '' if piece == ';' else header + piece
    return found


_ACCESS = re.compile(r'^\s*(public|protected|private)\s*:(?!:)')
_NO_FUNCTION = re.compile(r'\b(friend|using|typedef|static_assert)\b|=\s*(delete|default)\s*$')


def _declares_function(header):
    """Whether this member, up to its semicolon or brace, is a function that somebody can call."""
    words, before = ' '.join(header.split()), None
    while words != before:  # what stands between < and >
        words, before = re.sub(r'<[^<>()]*(\([^()]*\)[^<>()]*)?>', '', words), words
    name = re.match(r'(.*?)\(', words)
    if not name or _NO_FUNCTION.search(words) or not re.search(r'[\w\]=!<>+*-]\s*$', name.group(1)):
        return False
    return '=' not in name.group(1) or 'operator' in name.group(1)


def public_functions(text):
    """(line, name, number of public functions) of each class and struct. Constructors count; what
    is deleted or defaulted does not."""
    found = []
    stack = []  # of types: [line, name, access, count]; of all else: None
    header, parens = '', 0
    for line, piece in _pieces(text):
        parens += (piece == '(') - (piece == ')')
        inside = stack[-1] if stack else None
        if inside and inside[2] == 'public' and piece in ';{' and not parens:
            inside[3] += _declares_function(header)
        if parens:  # braces of a default argument, of a lambda that is passed
            header += piece
        elif piece == '{':
            words = re.sub(r'^template\s*<.*?>\s*(?=class|struct)', '', ' '.join(header.split()))
            kind = _TYPE.match(words)
            opens = kind and words.startswith(('class', 'struct'))
            access = 'public' if words.startswith('struct') else 'private'
            stack.append([line, kind.group(1), access, 0] if opens else None)
            header = ''
        elif piece == '}':
            if stack and (ended := stack.pop()):
                found.append((ended[0], ended[1], ended[3]))
            header = ''
        elif piece == ';':
            header = ''
        else:
            header += piece
            access = _ACCESS.match(header) if inside and piece == ':' else None
            if access:  # `public::x` is no access, but no type begins so either
                inside[2], header = access.group(1), ''
    return found
