/** Paths as declarations write them: `/api/agents/{id}`, `/api/models/{*id}`. */

export type Segment = { readonly kind: 'literal'; readonly text: string } | { readonly kind: 'param' | 'rest'; readonly name: string };

export interface PathPattern {
  readonly path: string;
  readonly segments: readonly Segment[];
  /** Equal for paths that match the same requests: names of parameters left out. */
  readonly shape: string;
  /** Sorts literal before parameter before rest, segment by segment. */
  readonly rank: string;
  readonly hasRest: boolean;
}

export const parsePath = (path: string): PathPattern => {
  if (!path.startsWith('/') || path.includes('//') || (path !== '/' && path.endsWith('/'))) {
    throw new Error(`"${path}" is no path: it begins with one slash, has no empty segment and no slash at its end`);
  }
  const segments =
    path === '/'
      ? []
      : path
          .slice(1)
          .split('/')
          .map((text) => parseSegment(path, text));
  const rest = segments.findIndex((segment) => segment.kind === 'rest');
  if (rest >= 0 && rest < segments.length - 1) throw new Error(`"${path}": {*name} must be the last segment`);
  return {
    path,
    segments,
    shape: `/${segments.map((segment) => (segment.kind === 'literal' ? segment.text : segment.kind === 'param' ? '{}' : '{*}')).join('/')}`,
    rank: segments.map((segment) => (segment.kind === 'literal' ? '0' : segment.kind === 'param' ? '1' : '2')).join(''),
    hasRest: rest >= 0,
  };
};

/** The form that path-to-regexp 8 reads; what means something to it inside a literal is escaped. */
export const routerPath = (pattern: PathPattern): string => `/${pattern.segments.map(routerSegment).join('/')}`;

const routerSegment = (segment: Segment): string => {
  if (segment.kind === 'literal') return segment.text.replace(/[{}()[\]+?!:*\\]/g, '\\$&');
  return segment.kind === 'param' ? `:${segment.name}` : `*${segment.name}`;
};

/** Which bucket a pattern is kept in: its first two segments as far as they are literal, then `*`. */
export const bucketOf = (pattern: PathPattern): string => {
  const [first, second] = pattern.segments;
  if (first === undefined) return '';
  if (first.kind !== 'literal') return '*';
  if (second === undefined) return first.text;
  return second.kind === 'literal' ? `${first.text}/${second.text}` : `${first.text}/*`;
};

/** True when every request that `literal` matches could also be meant for `wide`. */
export const shadows = (wide: PathPattern, literal: PathPattern): boolean => {
  if (wide.shape === literal.shape) return false;
  for (const [index, segment] of wide.segments.entries()) {
    const other = literal.segments[index];
    if (!other) return false;
    if (segment.kind === 'rest') return true;
    if (segment.kind === 'literal' && (other.kind !== 'literal' || other.text !== segment.text)) return false;
    if (segment.kind === 'param' && other.kind === 'rest') return false;
  }
  return wide.segments.length === literal.segments.length;
};

/** True when there is a request that both match. */
export const overlap = (one: PathPattern, other: PathPattern): boolean => {
  for (const [index, segment] of one.segments.entries()) {
    const theirs = other.segments[index];
    if (!theirs) return false;
    if (segment.kind === 'rest' || theirs.kind === 'rest') return true;
    if (segment.kind === 'literal' && theirs.kind === 'literal' && segment.text !== theirs.text) return false;
  }
  return one.segments.length === other.segments.length;
};

const parseSegment = (path: string, text: string): Segment => {
  const match = /^\{(\*?)([a-zA-Z_][a-zA-Z0-9_]*)\}$/.exec(text);
  if (match?.[2]) return { kind: match[1] ? 'rest' : 'param', name: match[2] };
  if (/[{}]/.test(text)) throw new Error(`"${path}": a parameter takes a whole segment, as {name} or {*name}`);
  return { kind: 'literal', text };
};
