/** Addresses as an attacker writes them, and what must become of each. */

/** A part of the reason that the error gives. */
type Why = string;

const MACHINE = 'this machine';
const NOT_PUBLIC = 'not public';
const METADATA = 'cloud metadata or a carrier network';
const CREDENTIALS = 'cloud credentials';
const BAD = 'The URL cannot be fetched';

const each = (why: Why, ...urls: readonly string[]): ReadonlyArray<readonly [string, Why]> => urls.map((url) => [url, why]);

/** Refused before a connection is opened, as the first address and after a redirect. */
export const REFUSED: ReadonlyArray<readonly [url: string, why: Why]> = [
  // IPv4 of this machine: decimal, octal, hexadecimal, short, mixed, upper case, dots at the end.
  ...each(MACHINE, 'http://127.0.0.1/', 'http://127.0.0.1./', 'http://127.0.0.1../', 'http://127.255.255.254/', 'http://2130706433/', 'http://017700000001/', 'http://0x7f000001/', 'http://0X7F.1/'),
  ...each(MACHINE, 'http://127.1/', 'http://127.0.1/', 'http://0177.0.0.1/', 'http://0177.0x0.0.1/', 'http://0x7f.0x0.0x0.0x1/', 'http://00000177.1/', 'http://127.0.0.0x1/', 'http://127.65535/'),
  ...each(NOT_PUBLIC, 'http://0/', 'http://0x/', 'http://0.0.0.0/', 'http://0.0.0.1/', 'http://00.00.00.00/', 'http://0.255.255.255/'),
  // Percent, fullwidth, circled and other digits and dots that become ASCII (UTS 46).
  ...each(
    MACHINE,
    'http://127%2e0%2e0%2e1/',
    'http://%31%32%37.0.0.1/',
    'http://①②⑦.⓪.⓪.①/',
    'http://１２７.0.0.1/',
    'http://127。0。0。1/',
    'http://127．0．0．1/',
    'http://127｡0｡0｡1/',
    'http://𝟙𝟚𝟟.𝟘.𝟘.𝟙/',
  ),
  ...each(MACHINE, 'http://¹²⁷.0.0.1/', 'http://127.0.0.1。/', 'http://0ｘ7f.1/', 'http://127.0\u00ad.0.1/', 'http://127.0.0.1\t/', 'http://12\n7.0.0.1/'),
  // Other ways to begin a URL.
  ...each(
    MACHINE,
    'http:127.0.0.1',
    'http:/127.0.0.1/',
    'http:///127.0.0.1/',
    'http:\\\\127.0.0.1\\',
    '  http://127.0.0.1/',
    'HTTP://127.0.0.1/',
    'https://127.0.0.1/',
    'http://127.0.0.1?@example.com/',
  ),
  ...each(MACHINE, 'http://127.0.0.1#@example.com/', 'http://127.0.0.1\\@example.com/', 'http://127.0.0.1/http://example.com/'),
  // Ports.
  ...each(MACHINE, 'http://127.0.0.1:22/', 'http://127.0.0.1:6379/', 'http://127.0.0.1:00080/', 'http://127.0.0.1:/', 'https://127.0.0.1:65535/', 'http://2130706433:8080/'),
  ...each(BAD, 'http://127.0.0.1:65536/', 'http://127.0.0.1:-1/', 'http://127.0.0.1:8o/'),
  // Private, reserved and other IPv4 (IANA's special-purpose registry), first and last.
  ...each(NOT_PUBLIC, 'http://10.0.0.0/', 'http://10.255.255.255/', 'http://167772161/', 'http://012.1/', 'http://172.16.0.1/', 'http://172.31.255.255/', 'http://0xac100001/', 'http://192.168.0.0/'),
  ...each(
    NOT_PUBLIC,
    'http://192.168.255.255/',
    'http://192.168.257/',
    'http://3232235777/',
    'http://192.0.0.1/',
    'http://192.0.2.1/',
    'http://192.88.99.1/',
    'http://198.18.0.1/',
    'http://198.19.255.255/',
  ),
  ...each(
    NOT_PUBLIC,
    'http://198.51.100.1/',
    'http://203.0.113.1/',
    'http://224.0.0.1/',
    'http://239.255.255.250/',
    'http://240.0.0.1/',
    'http://255.255.255.255/',
    'http://4294967295/',
    'http://192.52.193.1/',
  ),
  // Credentials of clouds, and carrier networks.
  ...each(
    METADATA,
    'http://169.254.169.254/latest/meta-data/',
    'http://2852039166/',
    'http://0xa9fea9fe/',
    'http://0251.0376.0251.0376/',
    'http://169.16689662/',
    'http://169.254.43518/',
    'http://169.254.170.2/',
  ),
  ...each(
    METADATA,
    'http://169.254.0.23/',
    'http://169.254.255.255/',
    'http://①⑥⑨.②⑤④.①⑥⑨.②⑤④/',
    'http://169。254。169。254/',
    'http://100.100.100.200/',
    'http://100.64.0.1/',
    'http://100.127.255.255/',
  ),
  ...each(
    METADATA,
    'http://1684301000/',
    'http://192.0.0.192/',
    'http://168.63.129.16/',
    'http://0xa83f8110/',
    'http://[fd00:ec2::254]/',
    'http://[fd00:ec2::23]/',
    'http://[fd00:0ec2:0:0:0:0:0:253]/',
  ),
  ...each(METADATA, 'http://[fd20:ce::254]/', 'http://[fd00:c1::a9fe:a9fe]/', 'http://[fd00:42::42]/', 'http://[fe80::a9fe:a9fe]/'),
  // IPv6 of this machine, in all spellings.
  ...each(MACHINE, 'http://[::1]/', 'http://[0:0:0:0:0:0:0:1]/', 'http://[0000:0000:0000:0000:0000:0000:0000:0001]/', 'http://[::0001]/', 'http://[0::1]:80/', 'http://[::0.0.0.1]/'),
  ...each(NOT_PUBLIC, 'http://[::]/', 'http://[0:0:0:0:0:0:0:0]/', 'http://[::0.0.0.0]/', 'http://[::2]/'),
  // IPv4 inside IPv6: mapped, compatible, translated, NAT64 (both prefixes), 6to4, Teredo, ISATAP.
  ...each(
    MACHINE,
    'http://[::ffff:127.0.0.1]/',
    'http://[::FFFF:7F00:1]/',
    'http://[0:0:0:0:0:ffff:7f00:0001]/',
    'http://[::127.0.0.1]/',
    'http://[::7f00:1]/',
    'http://[64:ff9b::127.0.0.1]/',
    'http://[2606:4700::200:5efe:127.0.0.1]/',
  ),
  ...each(NOT_PUBLIC, 'http://[::ffff:10.0.0.1]/', 'http://[::ffff:c0a8:1]/', 'http://[::ffff:0.0.0.0]/', 'http://[::10.0.0.1]/', 'http://[64:ff9b::10.0.0.1]/', 'http://[64:ff9b::c0a8:101]/'),
  ...each(
    METADATA,
    'http://[::ffff:169.254.169.254]/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://[::a9fe:a9fe]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://[64:ff9b:0:0:0:0:100.100.100.200]/',
    'http://[::ffff:168.63.129.16]/',
  ),
  ...each(METADATA, 'http://[::ffff:0:169.254.169.254]/', 'http://[64:ff9b:1::a9fe:a9fe]/', 'http://[64:ff9b:1:a9fe:a9:fe00::]/', 'http://[2002:a9fe:a9fe::1]/', 'http://[2001:0:a9fe:a9fe::1]/'),
  ...each(METADATA, 'http://[2001:0:808:808::5601:5601]/', 'http://[2606:4700::5efe:169.254.169.254]/', 'http://[2606:4700::200:5efe:a9fe:a9fe]/'),
  ...each(
    NOT_PUBLIC,
    'http://[::ffff:0:127.0.0.1]/',
    'http://[64:ff9b:1::1]/',
    'http://[2002:7f00:1::]/',
    'http://[2002:0a00:0001::1]/',
    'http://[2002:808:808::1]/',
    'http://[2001:0:808:808::8080:fefe]/',
  ),
  ...each(NOT_PUBLIC, 'http://[2606:4700::5efe:10.0.0.1]/'),
  // IPv6 that is private, reserved or nobody's.
  ...each(
    NOT_PUBLIC,
    'http://[fc00::1]/',
    'http://[fdff:ffff::1]/',
    'http://[fd12:3456:789a:1::1]/',
    'http://[fe80::1]/',
    'http://[febf::1]/',
    'http://[fec0::1]/',
    'http://[ff02::1]/',
    'http://[100::1]/',
  ),
  ...each(
    NOT_PUBLIC,
    'http://[2001:db8::1]/',
    'http://[3fff::1]/',
    'http://[2001:2::1]/',
    'http://[2001:10::1]/',
    'http://[2001:20::1]/',
    'http://[2001:100::1]/',
    'http://[5f00::1]/',
    'http://[200:1234::1]/',
  ),
  ...each(NOT_PUBLIC, 'http://[1::1]/', 'http://[4000::1]/', 'http://[2620:4f:8000::1]/'),
  // Zones and other text that is no address.
  ...each(BAD, 'http://[::1%25lo]/', 'http://[fe80::1%25eth0]/', 'http://[fe80::1%eth0]/', 'http://[::ffff:0x7f.0.0.1]/', 'http://[::127.1]/', 'http://[127.0.0.1]/', 'http://[::1/', 'http://::1/'),
  ...each(
    BAD,
    'http://256.256.256.256/',
    'http://4294967296/',
    'http://127.0.0.1.0x/',
    'http://127.0.0.1%00.example.com/',
    'http://127.0.0.1%20/',
    'http://localhost%2f/',
    'http://xn--/',
    'http://./',
    'http://../',
    'http://',
  ),
  // Names.
  ...each(
    MACHINE,
    'http://localhost/',
    'http://LOCALHOST/',
    'http://localhost./',
    'http://localhost../',
    'http://a.b.localhost/',
    'http://ip6-localhost/',
    'http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/',
    'http://loca\u00adlhost/',
    'http://local%68ost/',
  ),
  ...each(
    CREDENTIALS,
    'http://metadata.google.internal/',
    'http://METADATA.google.internal./',
    'http://metadata。google。internal/',
    'http://metadata%2egoogle.internal/',
    'http://metadata.aws.internal/',
    'http://instance-data/',
  ),
  // User names, schemes, and names without end.
  ...each(
    BAD,
    'http://user@example.com/',
    'http://user:pw@example.com/',
    'http://example.com@127.0.0.1/',
    'http://127.0.0.1@example.com/',
    'http://%75@example.com/',
    'http://a:b@[::1]/',
    'http://127.0.0.1:80@8.8.8.8/',
  ),
  ...each(
    BAD,
    'file:///etc/passwd',
    'ftp://example.com/',
    'gopher://127.0.0.1:6379/_x',
    'dict://127.0.0.1/',
    'ws://example.com/',
    'data:text/plain,x',
    'javascript:1',
    'blob:http://example.com/x',
    'jar:http://example.com!/',
    '//example.com/',
    'example.com',
  ),
  ...each(BAD, `http://${'a.'.repeat(126)}test/`, `http://${'a'.repeat(254)}/`, `http://${'x'.repeat(100_000)}.test/`),
];

/** Let through: public addresses, also in odd spellings, at the edges of what is not. */
export const PUBLIC: readonly string[] = [
  ...[
    'http://8.8.8.8/',
    'http://134744072/',
    'http://0x08080808/',
    'http://010.010.010.010/',
    'http://1.1/',
    'http://①.①.①.①/',
    'http://８。８。８。８/',
    'http://93.184.215.14:8080/',
    'https://93.184.215.14./',
  ],
  ...['http://9.255.255.255/', 'http://11.0.0.0/', 'http://100.63.255.255/', 'http://100.128.0.0/', 'http://126.255.255.255/', 'http://128.0.0.1/', 'http://169.253.255.255/', 'http://169.255.0.1/'],
  ...[
    'http://172.15.255.255/',
    'http://172.32.0.0/',
    'http://192.167.255.255/',
    'http://192.169.0.0/',
    'http://198.17.255.255/',
    'http://198.20.0.0/',
    'http://203.0.112.255/',
    'http://223.255.255.255/',
  ],
  ...['http://168.63.129.15/', 'http://192.0.1.1/', 'http://[2606:4700:4700::1111]/', 'http://[2001:4860:4860::8888]:443/', 'http://[2A00:1450:4001:0000::200e]/', 'http://[::ffff:8.8.8.8]/'],
  ...['http://[64:ff9b::808:808]/', 'http://[2606:4700::5efe:8.8.8.8]/', 'http://[2003::1]/', 'http://[3ffe:ffff::1]/'],
];

/** What `[web.fetch] ssrf_allowed_hosts` and a grant open to nobody, however they are written. */
export const NEVER_ALLOWED: readonly string[] = REFUSED.filter(([, why]) => why === METADATA || why === CREDENTIALS).map(([url]) => url);

/** Hosts of tcp connections and of a command's tunnels, which are text of their own and not part of a URL. */
export const NOT_A_HOST: readonly string[] = [
  ...[
    '',
    '.',
    ' ',
    '127.0.0.1\0.granted.test',
    'other.test\0.granted.test',
    '127.0.0.1/24',
    '127.0.0.1:80',
    '[::1]:80',
    '[::1',
    '::1%lo',
    'fe80::1%eth0',
    '[fe80::1%25eth0]',
    'user@127.0.0.1',
    '127.0.0.1#x',
    '127.0.0.1?x',
  ],
  ...['127.0.0.1\\x', '127.0.0.1%00', '127.0.0.1 ', '\t127.0.0.1', '127.0.0.1\r\nx: y', '256.1.1.1', 'http://127.0.0.1', `${'a.'.repeat(126)}test`],
];
