import { expect } from 'chai';
import { admitOrigin } from '../../src/http/callers/access.js';
import { hostNameOf } from '../../src/http/host-name.js';

const NAMES: ReadonlyArray<readonly [string, string | undefined]> = [
  ['localhost', 'localhost'],
  ['LocalHost:4545', 'localhost'],
  ['localhost.', 'localhost'],
  ['127.0.0.1', '127.0.0.1'],
  ['127.0.0.1:65535', '127.0.0.1'],
  ['my_box.lan:80', 'my_box.lan'],
  ['[::1]', '::1'],
  ['[::1]:4545', '::1'],
  ['[::FFFF:127.0.0.1]:1', '::ffff:127.0.0.1'],
  ['', undefined],
  [' localhost', undefined],
  ['localhost ', undefined],
  ['localhost:', undefined],
  ['localhost:65536', undefined],
  ['localhost:4545:1', undefined],
  ['localhost:80evil', undefined],
  ['localhost/evil', undefined],
  ['localhost@evil.example', undefined],
  ['localhost#evil', undefined],
  ['localhost\\evil', undefined],
  ['localhost%2eevil', undefined],
  ['localhost,evil.example', undefined],
  [':4545', undefined],
  ['::1', undefined],
  ['[::1', undefined],
  ['::1]', undefined],
  ['[]', undefined],
  ['[::1]evil.example', undefined],
  ['[::1].evil.example', undefined],
  ['[::1]:80.evil.example', undefined],
  ['[::1]4545', undefined],
  ['[::1]]', undefined],
  ['[localhost]', undefined],
  ['[127.0.0.1]', undefined],
  ['[::1%eth0]', undefined],
  ['[:::1]', undefined],
  [`${'a'.repeat(300)}`, undefined],
];

describe('the name in a Host header', () => {
  for (const [text, name] of NAMES) it(`"${text.slice(0, 40)}" is ${name ?? 'none'}`, () => expect(hostNameOf(text)).to.equal(name));

  const open = { corsOrigins: () => [], hasApiKey: () => false, listenHost: () => '127.0.0.1' };

  it('lets only this machine in while no key is set, whatever stands behind a name of it', () => {
    for (const host of ['localhost:1', '[::1]:1', '127.0.0.1']) expect(admitOrigin(open, { host }, 'GET', false, false), host).to.equal(undefined);
    for (const host of ['[::1]evil.example', '[::1].evil.example:80', '[127.0.0.1]x', 'localhost:1@evil.example', ''])
      expect(() => admitOrigin(open, { host }, 'GET', false, false), host).to.throw('is not one of its names');
    expect(() => admitOrigin(open, {}, 'GET', false, false)).to.throw('is not one of its names');
  });

  it('of an origin must be the very one that was called, its port and its scheme too', () => {
    const cases: Array<[host: string, origin: string, isSecure: boolean, isOwn: boolean]> = [
      ['localhost', 'http://localhost', false, true],
      ['LOCALHOST:4545', 'http://localhost:4545', false, true],
      ['[::1]:4545', 'http://[::1]:4545', false, true],
      ['localhost', 'https://localhost', true, true],
      ['localhost:8443', 'https://localhost:8443', false, true],
      // Another program of this machine, and maybe another person's.
      ['127.0.0.1:4545', 'http://127.0.0.1:5555', false, false],
      ['127.0.0.1:4545', 'http://127.0.0.1', false, false],
      ['127.0.0.1:4545', 'http://localhost:4545', false, false],
      ['127.0.0.1:4545', 'http://127.0.0.2:4545', false, false],
      ['localhost', 'https://localhost', false, false],
      ['localhost', 'http://localhost', true, false],
      ['localhost', 'tauri://localhost', false, false],
      ['localhost', 'https://tauri.localhost', false, false],
      ['localhost', 'http://[::1]evil.example', false, false],
      ['localhost', 'http://localhost:1:2', false, false],
    ];
    for (const [host, origin, isSecure, isOwn] of cases) {
      const ask = () => admitOrigin(open, { host, origin }, 'GET', false, isSecure);
      if (isOwn) expect(ask(), `${origin} at ${host}`).to.equal(origin);
      else expect(ask, `${origin} at ${host}`).to.throw('are not allowed to call');
    }
  });
});
