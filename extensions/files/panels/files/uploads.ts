/** Files that a person put into a folder: written one after the other, never over one that is there without their word. */
import { bytes, confirmed, daemon, sayingOf, SvcError } from '@svc/kit';
import { MAX_WRITE_BYTES } from './tree.js';
import { t } from './words.js';

export interface Upload {
  readonly id: number;
  readonly name: string;
  readonly state: 'waiting' | 'sending' | 'done' | 'left' | 'failed';
  readonly why?: string;
}

const base64Of = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(new Error(t('not_read')));
    reader.readAsDataURL(file);
  });

const write = (agentId: string, filename: string, content: string, expected: string | null) => daemon.call('putAgentFile', { id: agentId, filename, body: { content, encoding: 'base64', expected } });

const isChanged = (error: unknown): boolean => error instanceof SvcError && error.code === 'files_changed';

/** False where the person left the one that is there. */
const put = async (agentId: string, filename: string, content: string): Promise<boolean> => {
  try {
    await write(agentId, filename, content, null);
    return true;
  } catch (error) {
    if (!isChanged(error)) throw error;
  }
  const { files } = await daemon.call('listAgentFiles', { id: agentId });
  const there = files.find((file) => file.name === filename);
  const rev = there?.rev ?? (await daemon.call('getAgentFile', { id: agentId, filename })).rev;
  if (!(await confirmed({ title: t('replace_title', { name: filename }), text: t('replace_text'), action: t('replace'), isDangerous: true }))) return false;
  await write(agentId, filename, content, rev);
  return true;
};

/** What became of one; never rejects. */
export const upload = async (agentId: string, folder: readonly string[], file: File): Promise<Pick<Upload, 'state' | 'why'>> => {
  if (file.size > MAX_WRITE_BYTES) return { state: 'failed', why: t('too_large', { size: bytes(file.size), limit: bytes(MAX_WRITE_BYTES) }) };
  try {
    return { state: (await put(agentId, [...folder, file.name].join('/'), await base64Of(file))) ? 'done' : 'left' };
  } catch (error) {
    const { text, hint } = sayingOf(error);
    return { state: 'failed', why: [text, hint].filter(Boolean).join(' ') };
  }
};
