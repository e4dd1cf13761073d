/** The actors of an area's own work. */
import { type Actors, type Role, actorFrom } from '@svc/api';
import { actorOf } from '@svc/api/internal';

const PURPOSE = /^[a-z][a-z0-9 -]{0,40}$/;

export const createAreaActors = (area: string): Actors => {
  const made = (purpose: string, role: Role, ownerId: string) => {
    if (!PURPOSE.test(purpose)) throw new Error(`${area} names no purpose of its actor: "${purpose}"`);
    return actorFrom({ id: `system:${area}:${purpose}`, role, ownerId });
  };
  return Object.freeze({
    system: (purpose: string, ownerId = 'system') => made(purpose, 'system', ownerId),
    of: (ownerId: string) => actorOf(ownerId),
    only: (purpose: string, ownerId: string) => made(purpose, 'user', ownerId),
  });
};
