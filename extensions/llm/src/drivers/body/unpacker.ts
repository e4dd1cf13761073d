/** A body as it was before the server packed it. Nobody asks for that, and some servers and proxies do it anyway. */
import { constants, createBrotliDecompress, createUnzip } from 'node:zlib';
import type { FetchResponse } from '@svc/api';
import { ModelFailure } from '../../call/model-failure.js';

export interface Unpacker {
  /** Hands on the whole body. Throws what `take` throws. */
  all(response: Pick<FetchResponse, 'each'>): Promise<void>;
}

type Take = (piece: Uint8Array) => void;

/** Gzip is known by its first bytes as well: proxies drop the header. */
export const createUnpacker = (encoding: string | undefined, take: Take): Unpacker => ({
  all: async (response) => {
    let feed: Packed | undefined;
    let isFirst = true;
    await response.each((piece) => {
      if (isFirst && piece.byteLength > 0) {
        isFirst = false;
        feed = packed(encoding ?? '', piece, take);
      }
      if (feed) feed.write(piece);
      else take(piece);
    });
    await feed?.end();
  },
});

interface Packed {
  write(piece: Uint8Array): void;
  end(): Promise<void>;
}

const packed = (encoding: string, first: Uint8Array, take: Take): Packed | undefined => {
  const name = encoding.trim().toLowerCase();
  const isGzip = first[0] === 0x1f && (first.byteLength === 1 || first[1] === 0x8b);
  if (name === 'br') return unpacking(createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH }), take);
  if (isGzip || ((name === 'deflate' || name === 'zlib') && first[0] === 0x78)) return unpacking(createUnzip({ flush: constants.Z_SYNC_FLUSH }), take);
  if (name === '' || name === 'identity' || name === 'gzip' || name === 'x-gzip' || name === 'deflate') return undefined;
  throw new ModelFailure('garbage', `the answer is packed with ${name.slice(0, 40)}, which svc does not read`, { httpStatus: 200 });
};

const unpacking = (stream: ReturnType<typeof createUnzip>, take: Take): Packed => {
  let failure: unknown;
  const ended = new Promise<void>((resolve) => {
    stream.on('close', resolve);
    stream.on('error', (error) => {
      failure ??= new ModelFailure('half_stream', 'the packed answer is broken', { httpStatus: 200, cause: error });
    });
  });
  stream.on('data', (piece: Uint8Array) => {
    try {
      take(piece);
    } catch (error) {
      failure ??= error;
      stream.destroy();
    }
  });
  return {
    write: (piece) => {
      if (failure !== undefined) throw failure;
      stream.write(piece);
    },
    end: async () => {
      stream.end();
      await ended;
      if (failure !== undefined) throw failure;
    },
  };
};
