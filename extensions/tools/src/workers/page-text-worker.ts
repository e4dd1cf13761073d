/** The worker that lays a page out as text: what it is given and what it gives. */
import { type Plain, Type, defineWorker } from '@svc/api';

export const PageInput = Type.Object({
  html: Type.String(),
  url: Type.String({ description: "The page's address: what relative links start from" }),
  maxChars: Type.Integer({ description: 'More is not wanted. Only a page that is hard to lay out is cut here' }),
});
export type PageInput = Plain<typeof PageInput>;

export const PageText = defineWorker('tools.page-text', { input: PageInput, output: Type.String() });
