/** A static file as an answer, in the best coding that its build wrote beside it: `x.js`, `x.js.br`, `x.js.gz`. */
import type { Assets } from '../adapters.js';
import { sendFile } from './http-file.js';
import type { Headers, MediaReply } from './reply.js';

interface AssetRequest {
  readonly headers: Readonly<Record<string, string | undefined>>;
}

const CODINGS: Readonly<Record<string, string>> = { br: '.br', gzip: '.gz' };

/** The best that the caller takes: a coding that it names without refusing it (`gzip;q=0`). */
function codingFor(accepted = ''): string {
  const named = accepted.split(',').map((one) => one.trim().toLowerCase());
  return Object.keys(CODINGS).find((coding) => named.some((one) => one === coding || (one.startsWith(`${coding};`) && !/;\s*q=0(\.0*)?$/.test(one)))) ?? '';
}

/** With an ETag. Rejects with `served_file_missing`. */
export const sendAsset = (req: AssetRequest, assets: Assets, name: string, contentType: string, headers: Headers = {}): Promise<MediaReply> => {
  const coding = codingFor(req.headers['accept-encoding']);
  // No ranges: a part of one coding would be put together with a part of another.
  const { range: _range, ...asked } = req.headers;
  return sendFile({ headers: asked }, assets, `${name}${CODINGS[coding] ?? ''}`, contentType, {
    ...headers,
    vary: 'accept-encoding',
    'accept-ranges': 'none',
    ...(coding === '' ? {} : { 'content-encoding': coding }),
  });
};
