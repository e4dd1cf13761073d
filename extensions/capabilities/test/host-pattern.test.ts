import { coversHost, isHostGranted, isPrivatePattern, targetOf } from '@svc/api';
import { isAddressGranted } from '@svc/api/internal';
import { expect } from 'chai';

const reaches = (pattern: string, address: string): boolean => {
  const { host, port } = targetOf(new URL(address));
  return isHostGranted([pattern], host, port);
};

describe('patterns of hosts', () => {
  it('match a host, the hosts below it, a port, an address or a block, and nothing else', () => {
    const table: Array<readonly [pattern: string, reached: readonly string[], missed: readonly string[]]> = [
      ['*', ['https://example.org/', 'http://10.0.0.1:81/'], []],
      ['example.org', ['https://EXAMPLE.org:8443/', 'http://example.org./'], ['https://api.example.org/', 'https://example.org.evil.test/']],
      ['*.Example.org', ['https://api.example.org/', 'https://a.b.example.org/'], ['https://example.org/', 'https://evilexample.org/']],
      ['example.org:8443', ['https://example.org:8443/'], ['https://example.org/', 'https://example.org:8444/']],
      ['example.org:443', ['https://example.org/'], ['http://example.org/']],
      ['example.org:*', ['https://example.org/', 'http://example.org:9/'], ['http://x.example.org/']],
      ['*:443', ['https://example.org/'], ['http://example.org/']],
      ['api-*.example.org', ['https://api-7.example.org/'], ['https://api.example.org/']],
      ['127.0.0.1:*', ['http://127.0.0.1:4545/', 'http://127.1/', 'http://0x7f.0.0.1/', 'http://2130706433/'], ['http://127.0.0.2/', 'http://localhost/']],
      ['10.0.0.0/8', ['http://10.255.0.1:8080/'], ['http://11.0.0.1/', 'http://10.evil.test/']],
      ['10.0.0.0/8:8080', ['http://10.0.0.1:8080/'], ['http://10.0.0.1/']],
      ['192.168.7.0/25', ['http://192.168.7.127/'], ['http://192.168.7.128/']],
      ['[::1]:8080', ['http://[::1]:8080/', 'http://[0:0:0:0:0:0:0:1]:8080/'], ['http://[::1]/', 'http://[::2]:8080/']],
      ['::1', ['http://[::1]:8080/'], ['http://127.0.0.1/']],
      ['fd00::/8', ['http://[fdff::1]/'], ['http://[fe00::1]/']],
      ['[2001:db8::]/32:443', ['https://[2001:db8:1::1]/'], ['http://[2001:db8::1]/', 'https://[2001:db9::1]/']],
      ['::ffff:10.0.0.1', ['http://10.0.0.1/', 'http://[::ffff:a00:1]/'], ['http://10.0.0.2/']],
      ['https://example.org', [], ['https://example.org/']],
      ['example.org/path', [], ['https://example.org/path']],
      ['10.0.0.0/33', [], ['http://10.0.0.1/']],
      ['1.2.3.4.5', [], ['http://1.2.3.4/']],
      [':::', [], ['http://[::1]/']],
      ['', [], ['http://example.org/']],
    ];
    const wrong = table.flatMap(([pattern, reached, missed]) => [
      ...reached.filter((url) => !reaches(pattern, url)).map((url) => `${pattern} should reach ${url}`),
      ...missed.filter((url) => reaches(pattern, url)).map((url) => `${pattern} should miss ${url}`),
    ]);
    expect(wrong).to.deep.equal([]);
  });

  it('H1 know what is private: any address or block that is not public, and the names of this machine', () => {
    for (const pattern of [
      '127.0.0.1',
      '127.0.0.1:*',
      '10.0.0.0/8',
      '0.0.0.0/0',
      '10.0.0.0/7',
      '169.254.169.254',
      '100.64.1.1',
      '224.0.0.1',
      '::1',
      '[::1]:80',
      'fd00::/8',
      '::/0',
      'fe80::1',
      '2002:7f00:1::',
      '::ffff:127.0.0.1',
      'localhost',
      'x.localhost:3000',
      'nonsense/',
    ])
      expect(isPrivatePattern(pattern), pattern).to.equal(true);
    for (const pattern of ['*', '*:*', '*.example.org', 'example.org:8443', '8.8.8.8', '93.184.215.0/24', '2606:4700:4700::1111']) expect(isPrivatePattern(pattern), pattern).to.equal(false);
  });

  it('H1 grant a private address only where it, its block or a name of this machine is written out', () => {
    const granted = (pattern: string, host: string, address: string, port = '80') => isAddressGranted([pattern], host, port, address);
    expect(granted('10.0.0.0/8', 'nas.test', '10.1.2.3')).to.equal(true);
    expect(granted('10.0.0.0/8', 'nas.test', '::ffff:10.1.2.3')).to.equal(true);
    expect(granted('localhost:80', 'localhost', '::1')).to.equal(true);
    expect(granted('localhost:80', 'localhost', '127.0.0.1')).to.equal(true);
    for (const pattern of ['*', 'nas.test', '*.test', '10.*']) expect(granted(pattern, 'nas.test', '10.1.2.3'), pattern).to.equal(false);
    expect(granted('localhost:80', 'localhost', '10.0.0.1')).to.equal(false);
    expect(granted('localhost:81', 'localhost', '127.0.0.1')).to.equal(false);
    expect(granted('localhost', 'evil.test', '127.0.0.1')).to.equal(false);
  });

  it('are covered only by patterns that reach all they reach', () => {
    for (const [grants, pattern] of [
      [['*'], 'example.org:443'],
      [['*'], '*.example.org'],
      [['*.example.org'], 'api.example.org'],
      [['example.org'], 'example.org:8443'],
      [['10.0.0.0/8'], '10.1.0.0/16'],
      [['10.0.0.0/8'], '10.1.1.1:80'],
      [['*'], '8.8.8.8'],
    ] as const)
      expect(coversHost(grants, pattern), `${grants} ${pattern}`).to.equal(true);
    for (const [grants, pattern] of [
      [['*'], '127.0.0.1'],
      [['*'], 'localhost'],
      [['*'], '10.0.0.0/8'],
      [['*'], '0.0.0.0/0'],
      [['*.example.org'], '*'],
      [['example.org:443'], 'example.org'],
      [['example.org:443'], 'example.org:*'],
      [['10.1.0.0/16'], '10.0.0.0/8'],
      [['127.*'], '127.0.0.1'],
      [['*.org'], 'example.com'],
      [[], 'example.org'],
    ] as const)
      expect(coversHost(grants, pattern), `${grants} ${pattern}`).to.equal(false);
  });
});
