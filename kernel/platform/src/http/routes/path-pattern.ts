/** Paths as declarations write them: `/api/agents/{id}`, `/api/models/{*id}`, `/tasks/{id}:cancel`, `/a2a/`. */

export type Segment =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'param' | 'rest'; readonly name: string /** Of a param: what follows it in its segment, such as `:cancel`. */; readonly action?: string };

export interface PathPattern {
  readonly path: string;
  readonly segments: readonly Segment[];
  /** Equal for paths that match the same requests: names of parameters left out. */
  readonly shape: string;
  /** Sorts literal before parameter with an action before parameter before rest, segment by segment. */
  readonly rank: string;
  readonly hasRest: boolean;
}

const RANKS = { literal: '0', action: '1', param: '2', rest: '3' } as const;

export const parsePath = (path: string): PathPattern => {
  if (!path.startsWith('/') || path.includes('//')) {
    throw new Error(`"${path}" is no path: it begins with one slash, and has no empty segment but the last`);
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
    shape: `/${segments.map((segment) => (segment.kind === 'literal' ? segment.text : segment.kind === 'param' ? `{}${segment.action ?? ''}` : '{*}')).join('/')}`,
    rank: segments.map((segment) => RANKS[segment.kind === 'param' && segment.action !== undefined ? 'action' : segment.kind]).join(''),
    hasRest: rest >= 0,
  };
};

/** The form that path-to-regexp 8 reads; what means something to it inside a literal is escaped. */
export const routerPath = (pattern: PathPattern): string => `/${pattern.segments.map(routerSegment).join('/')}`;

const routerSegment = (segment: Segment): string => {
  if (segment.kind === 'literal') return escaped(segment.text);
  return segment.kind === 'param' ? `:${segment.name}${escaped(segment.action ?? '')}` : `*${segment.name}`;
};

const escaped = (text: string): string => text.replace(/[{}()[\]+?!:*\\]/g, '\\$&');

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
    if (segment.kind === 'param' && (other.kind === 'rest' || !takesAll(segment, other))) return false;
  }
  return wide.segments.length === literal.segments.length;
};

/** True when there is a request that both match. */
export const overlap = (one: PathPattern, other: PathPattern): boolean => {
  for (const [index, segment] of one.segments.entries()) {
    const theirs = other.segments[index];
    if (!theirs) return false;
    if (segment.kind === 'rest' || theirs.kind === 'rest') return true;
    if (!mayMeet(segment, theirs)) return false;
  }
  return one.segments.length === other.segments.length;
};

const endOf = (segment: Segment): string => (segment.kind === 'literal' ? segment.text : (segment.action ?? ''));

/** Whether whatever fits `other` fits this parameter. */
const takesAll = (param: Segment, other: Segment): boolean => {
  const action = endOf(param);
  return action === '' ? endOf(other) !== '' || other.kind !== 'literal' : endOf(other).endsWith(action);
};

/** Whether one text can fit both. */
const mayMeet = (one: Segment, other: Segment): boolean => {
  if (one.kind === 'literal' && other.kind === 'literal') return one.text === other.text;
  // Nothing is no value of a parameter: a slash at the end of a path is only that.
  if ((one.kind === 'literal' && one.text === '') || (other.kind === 'literal' && other.text === '')) return false;
  const [mine, theirs] = [endOf(one), endOf(other)];
  if (one.kind === 'literal') return mine.endsWith(theirs);
  return other.kind === 'literal' ? theirs.endsWith(mine) : mine.endsWith(theirs) || theirs.endsWith(mine);
};

const parseSegment = (path: string, text: string): Segment => {
  const match = /^\{(\*?)([a-zA-Z_][a-zA-Z0-9_]*)\}(:[a-zA-Z][a-zA-Z0-9_-]*)?$/.exec(text);
  if (match?.[2] && match[1] && match[3]) throw new Error(`"${path}": nothing follows {*name}`);
  if (match?.[2]) return match[1] ? { kind: 'rest', name: match[2] } : { kind: 'param', name: match[2], ...(match[3] === undefined ? {} : { action: match[3] }) };
  if (/[{}]/.test(text)) throw new Error(`"${path}": a parameter takes a whole segment, as {name}, {*name} or {name}:action`);
  return { kind: 'literal', text };
};
