/** Whoever reads stdout may close it early (`svc logs | head`): for a command that is no error, and its end. */
import { EXIT } from '../exit-codes.js';

const leave = (error: NodeJS.ErrnoException): void => {
  if (error.code === 'EPIPE') process.exit(EXIT.ok);
  throw error;
};

export const leaveWithReader = (): void => void process.stdout.on('error', leave);

/** For a process that goes on as something else. */
export const stayWithoutReader = (): void => void process.stdout.off('error', leave);
