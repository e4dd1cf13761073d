/** What a model writes, token by token: Markdown with paragraphs, a list, code and a table, again and again. */
const TEXT = `## What changed in the report

The figures of **March** are in: revenue rose by 4 %, while costs stayed where they were. Two of the three regions are above plan, and the third one caught up in the last week. See [the table](https://example.com/report) for the details of each region and month.

- North is above plan since January.
- South had one weak week, because of the holidays.
- West needs \`two\` more people to answer in time.

\`\`\`ts
const total = regions.reduce((sum, { revenue }) => sum + revenue, 0);
console.log(\`total: \${total}\`);
\`\`\`

| region | plan | actual |
|---|--:|--:|
| North | 100 | 112 |
| South | 80 | 79 |

Next week the numbers of April come in. Until then nothing has to be decided, but it helps to look at the costs of travel again, since they grew faster than everything else in the last two months.

`;

const TOKENS = TEXT.match(/\s?[^\s]{1,6}|\s+/g) ?? [];

/** So many tokens, from that place on. */
export const tokensFrom = (place, count) => Array.from({ length: count }, (_, index) => TOKENS[(place + index) % TOKENS.length]);
