// Quantities of Kubernetes as numbers, and back as a person reads them. Pure.

const DECIMAL = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
};
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** '1500m' → 1.5, '36Gi' → 38654705664, 8 → 8; NaN for what is no quantity. */
export function parseQuantity(text) {
  if (typeof text === 'number') return text;
  const parts = /^([+-]?[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?)([A-Za-z]*)$/.exec(
    String(text ?? '').trim(),
  );
  if (!parts) return NaN;
  const [, digits, unit] = parts;
  const power = BINARY.indexOf(unit);
  if (power > 0) return Number(digits) * 1024 ** power;
  return unit in DECIMAL ? Number(digits) * DECIMAL[unit] : NaN;
}

export const inBytes = (resource) => /memory|storage|hugepages/.test(resource);

function short(value, digits) {
  return String(Number(value.toFixed(digits)));
}

/** Bytes with binary units, everything else as a number with at most three decimals. */
export function formatQuantity(resource, value) {
  if (!Number.isFinite(value)) return '?';
  if (!inBytes(resource)) {
    const digits = Math.abs(value) < 10 ? 3 : 1;
    return Number(value.toFixed(digits)).toLocaleString('en');
  }
  let power = 0;
  let rest = value;
  while (Math.abs(rest) >= 1024 && power < BINARY.length - 1) {
    rest /= 1024;
    ++power;
  }
  return short(rest, 1) + BINARY[power];
}

export const formatCount = (value) => Number(value ?? 0).toLocaleString('en');
