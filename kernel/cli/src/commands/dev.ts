/** `svc dev`: an extension that is being written, in the running daemon. */
import type { CommandModule } from '../command.js';
import { defineDev } from './ext-author.js';

export const define: CommandModule['define'] = (program, action) => defineDev(program, action);
