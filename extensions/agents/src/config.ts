/** How long what a person deletes can be brought back. */
import { type Plain, Type, defineConfig } from '@svc/api';

const TrashConfig = Type.Object(
  {
    days: Type.Integer({
      minimum: 0,
      maximum: 365,
      default: 30,
      description: 'How many days deleted conversations, agents and files can be restored. 0: they are erased at once. It holds for what is deleted from then on',
    }),
  },
  { additionalProperties: false, default: {} },
);
export type TrashConfig = Plain<typeof TrashConfig>;

export const TrashSection = defineConfig('trash', TrashConfig);
