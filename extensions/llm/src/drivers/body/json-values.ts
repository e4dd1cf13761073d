/** JSON as it stands in an answer. */
import { isTable } from '@svc/api';
import { ModelFailure } from '../../call/model-failure.js';

/** The JSON of one event, as an object; each driver checks the members it uses. */
export const eventJson = (data: string): Record<string, unknown> => objectIn(data, 'an event of the stream');

export const objectIn = (text: string, what: string): Record<string, unknown> => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ModelFailure('garbage', `${what} is not JSON`, { httpStatus: 200, cause: error });
  }
  if (!isTable(value)) throw new ModelFailure('garbage', `${what} is not an object`, { httpStatus: 200 });
  return value;
};

export const tableIn = (text: string): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return isTable(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

/** The whole objects that a text begins with, one after the other or in a list, and what is left. In one pass. */
export const objectsIn = (text: string): { objects: string[]; rest: string } => {
  const objects: string[] = [];
  let depth = 0;
  let isInText = false;
  let begin = -1;
  let end = 0;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (isInText) {
      if (letter === '\\') at++;
      else if (letter === '"') isInText = false;
    } else if (letter === '"') isInText = true;
    else if (letter === '{') {
      if (depth++ === 0) begin = at;
    } else if (letter === '}' && depth > 0 && --depth === 0) {
      objects.push(text.slice(begin, at + 1));
      end = at + 1;
    }
  }
  return { objects, rest: text.slice(end) };
};
