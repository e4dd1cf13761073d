/** What webchat does for other areas: it knows whose pages are open. */
import { defineService, method, Type } from '@svc/api';

export const Pages = defineService('webchat', '1.0.0', {
  /** Those among these callers, such as `device:<id>`, who have a page open at this daemon. */
  openOf: method([Type.Array(Type.String({ description: 'Id of an actor' }))], Type.Array(Type.String())),
});
