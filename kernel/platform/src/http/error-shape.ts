/** Which form the body of an error takes: a route may write its errors as its protocol's clients read them. */
import type { ErrorBody, ErrorShape, Logger, RouteDecl } from '@svc/api';
import type { Call } from './call.js';
import type { RouteTable } from './routes/route-table.js';

/** Distinct shapes of a table with the paths they speak for, the longest first; tables never change. */
const known = new WeakMap<RouteTable<RouteDecl>, readonly ErrorShape[]>();

/** For what no route answers: the shape whose prefix the path begins with. */
export const shapeUnder = (table: RouteTable<RouteDecl>, path: string): ErrorShape | undefined => {
  let shapes = known.get(table);
  if (!shapes) {
    const all = table.rows.flatMap(({ decl }) => (decl.errorShape?.under === undefined ? [] : [decl.errorShape]));
    shapes = [...new Set(all)].sort((a, b) => (b.under ?? '').length - (a.under ?? '').length);
    known.set(table, shapes);
  }
  return shapes.find(({ under }) => under !== undefined && path.startsWith(under));
};

/** The body that this caller reads. A shape that fails hides no error: the usual body is sent. */
export const shaped = (shape: ErrorShape | undefined, status: number, body: ErrorBody, headers: Call['headers'], log: Logger): unknown => {
  if (!shape) return body;
  try {
    return shape.body(status, body, headers) ?? body;
  } catch (error) {
    log.error('an error could not be written in the form its route declares', { code: body.code, error: String(error) });
    return body;
  }
};
