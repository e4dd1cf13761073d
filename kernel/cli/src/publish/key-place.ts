/** Where a publisher's key is when nobody says: in the home, outside of every package. */
import path from 'node:path';
import { isSvcError } from '@svc/api';
import type { Cli } from '../cli.js';
import { Failure } from '../failure.js';

export const keyPlace = (cli: Cli, given: string | undefined): string => (given === undefined ? path.join(cli.settings.home, 'keys', 'publisher.key') : path.resolve(given));

/** What the installer refuses, as a command says it. */
export const inWords = async <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw isSvcError(error) ? new Failure(error.message, { code: error.code, fix: error.hint, details: error.details }) : error;
  });
