/** Files on their way to the daemon, before they are said with a message. */
import { bytes, daemon, failed, notify, useRef, useState } from '@svc/kit';
import type { Attached } from './live-run.js';
import { t } from './words.js';

/** As the daemon takes them: it says so itself where somebody set another limit. */
const MAX_BYTES = 10 * 1024 * 1024;
const MAX_FILES = 10;

export interface Uploads {
  readonly ready: readonly Attached[];
  /** Names of those that are still coming. */
  readonly coming: readonly string[];
  add(files: readonly File[]): void;
  remove(fileId: string): void;
  /** Empties it: they were said. */
  clear(): void;
  /** Puts back what was not said after all. */
  restore(files: readonly Attached[]): void;
}

export const useUploads = (agentId: string): Uploads => {
  const [ready, setReady] = useState<readonly Attached[]>([]);
  const [coming, setComing] = useState<readonly string[]>([]);
  const taken = useRef(0);
  taken.current = ready.length + coming.length;

  const upload = async (file: File): Promise<void> => {
    setComing((now) => [...now, file.name]);
    try {
      const form = new FormData();
      form.append('file', file, file.name);
      const { file_id, filename, content_type, size } = await daemon.call('uploadFile', { id: agentId, body: form });
      setReady((now) => [...now, { file_id, filename, content_type, size }]);
    } catch (error) {
      failed(error);
    } finally {
      setComing((now) => now.toSpliced(now.indexOf(file.name), 1));
    }
  };

  return {
    ready,
    coming,
    add: (files) => {
      for (const file of files) {
        if (taken.current >= MAX_FILES) return notify(t('too_many', { limit: MAX_FILES }));
        if (file.size > MAX_BYTES) {
          failed(new Error(t('too_large', { name: file.name, size: bytes(file.size), limit: bytes(MAX_BYTES) })));
          continue;
        }
        taken.current += 1;
        void upload(file);
      }
    },
    remove: (fileId) => setReady((now) => now.filter(({ file_id }) => file_id !== fileId)),
    clear: () => setReady([]),
    restore: (files) => setReady((now) => [...files, ...now]),
  };
};
