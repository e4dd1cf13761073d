/**
 * The small wrong turns a source allows: each a range of the text, what stands there, and what would stand there instead.
 *
 * Left out is what nobody should test: what is written to the log, the words of messages, hints and labels, types, and
 * whether a timer keeps the process alive. Ranges come from the syntax tree, so they nest and never overlap.
 */
import { parse } from '@babel/parser';
import { sqlChanges } from './sql-changes.mjs';

const OPPOSITE = { '===': '!==', '!==': '===', '<': '>=', '<=': '>', '>': '<=', '>=': '<', '&&': '||', '||': '&&', '+': '-', '-': '+', '*': '/', '/': '*', '%': '*', '+=': '-=', '-=': '+=' };
const AT_THE_EDGE = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' };
/** A call that is dropped leaves what it was called on; one that is swapped asks the other question. */
const DROPPED_CALLS = ['filter', 'slice', 'sort', 'toSorted', 'reverse', 'toReversed', 'trim', 'toLowerCase'];
const SWAPPED_CALLS = { some: 'every', every: 'some', min: 'max', max: 'min', startsWith: 'endsWith', endsWith: 'startsWith' };

const WORDS_FOR_PEOPLE = /^(message|hint|title|label|description|summary|why|what)$/;
const LOG_METHODS = /^(debug|info|warn|error)$/;
const LOGS = /(^|\.)(log|logger|console)$/i;

const isText = (node) => node.type === 'StringLiteral' || node.type === 'TemplateLiteral';
const keyName = (node) => node?.name ?? node?.value;
const isCall = (node) => node.type === 'CallExpression' || node.type === 'OptionalCallExpression';
const isMember = (node) => node?.type === 'MemberExpression' || node?.type === 'OptionalMemberExpression';

/** Types are not code; these three wrap code. */
const isType = (node) => node.type.startsWith('TS') && !['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression'].includes(node.type);

const isLogCall = (node, text) =>
  isCall(node) && isMember(node.callee) && LOG_METHODS.test(node.callee.property.name ?? '') && LOGS.test(text.slice(node.callee.object.start, node.callee.object.end).replace(/[?!]/g, ''));
const isUnref = (node) => isCall(node) && isMember(node.callee) && node.callee.property.name === 'unref';
/** How a thrown thing of unknown kind is put into words. */
const isWording = (node) => node.type === 'BinaryExpression' && node.operator === 'instanceof' && node.right.name === 'Error';
const isErrorMade = (node) => node.type === 'NewExpression' && /Error$/.test(node.callee.name ?? '');

/** Whole subtrees that are words, types or names. */
const isDecoration = (node, text) =>
  isType(node) ||
  isLogCall(node, text) ||
  isErrorMade(node) ||
  node.type === 'ImportDeclaration' ||
  (node.type === 'ObjectProperty' && !node.computed && WORDS_FOR_PEOPLE.test(keyName(node.key) ?? '') && node.value.type !== 'ArrowFunctionExpression');

const childrenOf = (node) => {
  const children = [];
  for (const [key, value] of Object.entries(node)) {
    if (key === 'loc' || key.endsWith('omments') || key === 'extra' || key === 'directives') continue;
    if (key === 'key' && !node.computed) continue;
    if (key === 'property' && !node.computed) continue;
    for (const child of Array.isArray(value) ? value : [value]) if (child && typeof child.type === 'string' && typeof child.start === 'number') children.push(child);
  }
  return children;
};

const ranged = (node, kind, to) => ({ start: node.start, end: node.end, kind, to, form: 'expression' });

/** The operator lies between its sides; parentheses may lie there too. */
const withOperator = (node, text, operator) => {
  const between = text.slice(node.left.end, node.right.start);
  const at = node.left.end + between.indexOf(node.operator);
  return text.slice(node.start, at) + operator + text.slice(at + node.operator.length, node.end);
};

const isSum = (node) => node.operator === '+' && (isText(node.left) || isText(node.right));

const ofBinary = (node, text, isTest) => {
  const { operator } = node;
  if (isSum(node)) return [];
  const found = [];
  if (AT_THE_EDGE[operator]) found.push(ranged(node, 'comparison', withOperator(node, text, AT_THE_EDGE[operator])));
  // As a whole condition it is turned into true and false anyway.
  const isQuestion = operator in AT_THE_EDGE || /==/.test(operator);
  if (OPPOSITE[operator] && !(isQuestion && isTest)) found.push(ranged(node, isQuestion ? 'comparison' : 'arithmetic', withOperator(node, text, OPPOSITE[operator])));
  return found;
};

const ofLogic = (node, text) => {
  if (node.operator === '??') return [ranged(node, 'default', text.slice(node.left.start, node.left.end))];
  return [ranged(node, 'logic', withOperator(node, text, OPPOSITE[node.operator]))];
};

const ofNumber = (node) => {
  if (node.value === 0) return [ranged(node, 'number', '1')];
  return [ranged(node, 'number', String(node.value * 2))];
};

const ofCall = (node, text) => {
  if (!isMember(node.callee) || node.callee.computed) return [];
  const { object, property } = node.callee;
  if (DROPPED_CALLS.includes(property.name)) return [ranged(node, 'call', text.slice(object.start, object.end))];
  const swapped = Object.hasOwn(SWAPPED_CALLS, property.name) && SWAPPED_CALLS[property.name];
  return swapped ? [ranged(node, 'call', text.slice(node.start, property.start) + swapped + text.slice(property.end, node.end))] : [];
};

const ofAssignment = (node, text) => {
  if (node.operator === '??=') return [ranged(node, 'assignment', withOperator(node, text, '='))];
  return OPPOSITE[node.operator] && !isText(node.right) ? [ranged(node, 'assignment', withOperator(node, text, OPPOSITE[node.operator]))] : [];
};

const always = (node) => ['true', 'false'].map((value) => ranged(node, 'condition', value));
const BY_TYPE = {
  BinaryExpression: ofBinary,
  LogicalExpression: ofLogic,
  NumericLiteral: ofNumber,
  BooleanLiteral: (node) => [ranged(node, 'boolean', String(!node.value))],
  UnaryExpression: (node, text, isTest) => (node.operator === '!' && !isTest ? [ranged(node, 'logic', text.slice(node.argument.start, node.argument.end))] : []),
  UpdateExpression: (node, text) => [
    ranged(
      node,
      'update',
      text.slice(node.start, node.end).replace(/\+\+|--/, (found) => (found === '++' ? '--' : '++')),
    ),
  ],
  CallExpression: ofCall,
  OptionalCallExpression: ofCall,
  AssignmentExpression: ofAssignment,
  StringLiteral: (node, text) => sqlChanges(text.slice(node.start, node.end)).map((to) => ranged(node, 'sql', to)),
  TemplateLiteral: (node, text) => sqlChanges(text.slice(node.start, node.end)).map((to) => ranged(node, 'sql', to)),
  ArrowFunctionExpression: ({ body }) => (isCall(body) || body.type === 'AwaitExpression' ? [ranged(body, 'call', 'undefined')] : []),
};

const isTestOf = (node, parent) => parent?.test === node && /^(If|Conditional|While|DoWhile|For)/.test(parent.type);

const conditionChanges = (node, parent) => {
  if (!isTestOf(node, parent) || isWording(node)) return [];
  // A loop without an end says nothing about the tests.
  return /^(If|Conditional)/.test(parent.type) ? always(node) : [ranged(node, 'condition', 'false')];
};

const GONE = ['ExpressionStatement', 'ThrowStatement', 'ContinueStatement', 'BreakStatement'];
const statementChanges = (node, text) => {
  const isEmptyReturn = node.type === 'ReturnStatement' && !node.argument;
  if (!GONE.includes(node.type) && !isEmptyReturn) return [];
  const call = node.expression?.type === 'AwaitExpression' ? node.expression.argument : node.expression;
  if (call && (isLogCall(call, text) || isUnref(call))) return [];
  return [{ start: node.start, end: node.end, kind: 'statement', to: '', form: 'statement' }];
};

const isChainLink = (node) => node.type === 'OptionalMemberExpression' || node.type === 'OptionalCallExpression';
const innerOf = (node) => node.object ?? node.callee;

/** `a?.b.c()` stops as a whole: nothing inside the chain may be wrapped, so its links are changed from its end. */
const chainChanges = (top, text) => {
  const found = [];
  for (let link = top; isChainLink(link); link = innerOf(link)) {
    if (link.optional) {
      const from = innerOf(link).end;
      const at = text.indexOf('?.', from);
      const isPlain = isMember(link) && !link.computed;
      found.push(ranged(top, 'optional', text.slice(top.start, at) + (isPlain ? '.' : '') + text.slice(at + 2, top.end)));
    }
    if (link !== top && link.type === 'OptionalCallExpression')
      for (const change of ofCall(link, text)) found.push({ ...change, start: top.start, end: top.end, to: text.slice(top.start, link.start) + change.to + text.slice(link.end, top.end) });
  }
  return found;
};

/** A place that is written to, or called with its object as `this`, cannot become a condition. */
const isPlace = (node, parent) =>
  (parent?.type === 'AssignmentExpression' && parent.left === node) ||
  parent?.type === 'UpdateExpression' ||
  (parent?.type === 'UnaryExpression' && /^(delete|typeof)$/.test(parent.operator)) ||
  (/^For(In|Of)/.test(parent?.type ?? '') && parent.left === node);

/** What a comparison function answers has a sign; its size says nothing. */
const isSizeOfOrder = (node, parent) => node.type === 'NumericLiteral' && node.value !== 0 && (parent?.type === 'UnaryExpression' || parent?.type === 'ConditionalExpression') && parent.isInOrder;

const visit = (node, parent, text, found) => {
  if (isDecoration(node, text) || isSizeOfOrder(node, parent)) return;
  if (parent) node.isInOrder = parent.isInOrder || (isCall(parent) && isMember(parent.callee) && /^(sort|toSorted)$/.test(parent.callee.property.name) && parent.callee !== node);
  const isInnerLink = isChainLink(node) && isChainLink(parent ?? { type: '' }) && innerOf(parent) === node;
  if (!isInnerLink && !isPlace(node, parent)) {
    found.push(...(BY_TYPE[node.type]?.(node, text, isTestOf(node, parent)) ?? []));
    if (isChainLink(node)) found.push(...chainChanges(node, text));
    found.push(...conditionChanges(node, parent));
  }
  found.push(...statementChanges(node, text));
  for (const child of childrenOf(node)) if (!(node.shorthand && child === node.key)) visit(child, node, text, found);
};

/** All changes of a TypeScript source, in the order of the text; of two that read alike one is kept. */
export const findChanges = (text) => {
  const { program } = parse(text, { sourceType: 'module', plugins: ['typescript'] });
  const found = [];
  visit(program, undefined, text, found);
  const distinct = new Map(found.map((change) => [`${change.start} ${change.end} ${change.to}`, change]));
  return [...distinct.values()].filter((change) => change.to !== text.slice(change.start, change.end)).sort((a, b) => a.start - b.start || b.end - a.end);
};
