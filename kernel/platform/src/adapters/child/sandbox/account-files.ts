/** The files that name accounts and hosts, as a command in the sandbox sees them: nobody of this machine. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bind } from '@svc/sandbox';

/** Who a command is in the sandbox, whoever runs the daemon. */
export const SANDBOX_USER = { uid: 1000, gid: 1000 };
export const SANDBOX_HOME = '/tmp/home';

const FILES: Readonly<Record<string, string>> = {
  passwd: `root:x:0:0:root:/nonexistent:/usr/sbin/nologin\nagent:x:1000:1000:agent:${SANDBOX_HOME}:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n`,
  group: 'root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n',
  hosts: '127.0.0.1 localhost sandbox\n::1 localhost\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
};

/** Written once in a life of the daemon. */
export const writeAccountFiles = async (folder: string): Promise<readonly Bind[]> => {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await Promise.all(Object.entries(FILES).map(([name, text]) => writeFile(join(folder, name), text, { mode: 0o600 })));
  return Object.keys(FILES).map((name) => ({ path: join(folder, name), at: `/etc/${name}` }));
};
