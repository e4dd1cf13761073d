/** kernel/README.md says what each member of a context asks for: none is left out, each grant stands there, each file exists. */
import { access, readFile } from 'node:fs/promises';
import { GRANT_KINDS } from '@svc/api';
import { bootTestKernel, fixtureExtension, OPEN_RATE, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';

const KERNEL = 'kernel';

describe('the table of what an area may do', () => {
  afterEach(stopTestKernels);
  const rows = async (): Promise<string[][]> => {
    const text = await readFile(`${KERNEL}/README.md`, 'utf8');
    const lines = text.slice(text.indexOf('| member of ctx |')).split('\n\n', 1)[0]?.split('\n').slice(2) ?? [];
    return lines.map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  };
  const inTicks = (text = ''): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);

  it('has each member of a context, and no other', async () => {
    const members: string[] = [];
    const looker = fixtureExtension({ id: 'looker', definition: { activate: (ctx) => void members.push(...Object.getOwnPropertyNames(ctx)) } });
    await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["looker"]\n`, extra: [looker] });
    const named = new Set((await rows()).flatMap(([member]) => inTicks(member).map((name) => name.split('.', 1)[0])));
    expect([...named].sort()).to.deep.equal(members.sort());
  });

  it('has each kind of grant', async () => {
    const text = (await rows()).map(([, grant]) => grant).join();
    for (const { form } of Object.values(GRANT_KINDS)) for (const one of form.split(' or ')) expect(text).to.contain(one);
  });

  it('names files that are there', async () => {
    for (const [, , where = ''] of await rows()) for (const file of where.split(', ')) await access(`${KERNEL}/${file}`);
  });
});
