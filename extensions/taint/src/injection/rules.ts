/** What text from outside says when it gives orders to a model, by rule. The ids are the interface's; those after them are svc's own. */

export interface InjectionRule {
  readonly id: string;
  /** In lower case; a text without any of them need not be searched. */
  readonly hints: readonly string[];
  readonly pattern: RegExp;
}

/** `§(?:a|b)` stands for these words at the start of an order. The words are looked for first: that is quick. */
const rule = (id: string, hints: string, source: string): InjectionRule => ({
  id,
  hints: hints.split('|'),
  pattern: new RegExp(
    source.replace(/§\(\?:([a-z' |]+)\)/g, (_, words: string) => `(?:${words})(?<=${START}(?:${words}))`),
    'i',
  ),
});

/** What orders are called, and the words that may stand before it. */
const ORDERS = '(?:\\w{0,5}structions?|directions?|directives?|commands?|orders?|prompts?|rules?|guidelines?|context|messages?|tasks?|programming)';
/** Those that no manual speaks of in passing. */
const MODEL_ORDERS = '(?:\\w{0,5}structions?|directives?|guidelines?|prompts?|rules?|programming)';
const BETWEEN = '(?:\\s+(?:of|the|your|my|any|all|these|those|other|system|given|original|initial|user|safety)){0,4}';
const MODEL = '(?:an?\\s+)?(?:ai|artificial intelligence|llm|language model|assistant|chatbot|chat\\s?gpt|gpt|claude|gemini|llama|copilot|agent|model)';
/** An order is at the start of a sentence; a report about orders says who gave them. */
const START = '(?:^|[\\n\\r_.!?:;,>*#"\'(\\[{-]|\\b(?:please|now|and|then|must|should|to|you|first|important|also|just|so|your)\\b)\\s*';

export const INJECTION_RULES: readonly InjectionRule[] = [
  rule(
    'ignore_prev_instructions',
    'previous|preceding|earlier|past|former',
    `§(?:ignore|forget|override|discard|skip)${BETWEEN}\\s+(?:previous|preceding|earlier|past|former)(?:\\s+\\w+){0,2}\\s+${ORDERS}`,
  ),
  rule(
    'ignore_all_instructions',
    'ignore|forget|override|discard',
    `§(?:ignore|forget|override|discard)\\s+(?:absolutely\\s+)?(?:all|every|everything|any)(?:\\s+(?:of|the|your|other|previous|prior|current|existing|system|safety)){0,3}\\s+(?:${MODEL_ORDERS}|you\\s+(?:were|have been|are)\\s+told)`,
  ),
  rule('ignore_prior_instructions', 'prior', `§(?:ignore|forget|override|discard|skip)${BETWEEN}\\s+prior(?:\\s+\\w+){0,2}\\s+${ORDERS}`),
  rule(
    'ignore_above_instructions',
    'above|everything before',
    `§(?:ignore|forget|override|discard|skip)${BETWEEN}\\s+(?:above|everything\\s+(?:above|before))(?:\\s+\\w+){0,2}|§(?:ignore)\\s+(?:the\\s+)?${ORDERS}\\s+above`,
  ),
  rule(
    'ignore_your_instructions',
    'ignore|forget|override|disobey',
    `§(?:ignore|forget|override|disobey)\\s+(?:your|the system'?s?|the user'?s?|the original)\\s+(?:\\w+\\s+){0,2}[\\w]*(?:structions?|prompt|rules|guidelines|programming|task)\\b`,
  ),
  rule(
    'you_are_now',
    "you are now|you're now",
    `§(?:you)(?:\\s+are|'re)\\s+now\\s+(?:in\\s+\\w+\\s+mode|an?\\s+(?:\\w+\\s+){0,2}(?:ai|assistant|model|bot|hacker|admin|root|persona|agent|system)|dan\\b|free\\s+(?:of|from)|unrestricted|jailbroken|no longer)`,
  ),
  rule(
    'system_colon',
    'system|assistant|developer|im_start|start_header',
    '(?:^|[\\n\\r])[^\\S\\n\\r]*(?:[#*<\\[|]{1,4}\\s*)?(?:system|assistant|developer)(?:[_ ](?:message|prompt|note|override))?\\s*(?:[>\\])|]{1,3}|:)\\s*(?:you\\b|ignore\\b|new\\b|the user\\b|your\\b|do\\b|always\\b|never\\b|please\\b|must\\b|override\\b|send\\b|call\\b|run\\b)|<\\|?(?:im_start|system|start_header_id)\\|?>|###\\s*\\(?system[_ ]message\\)?',
  ),
  rule('disregard_instructions', 'disregard', `§(?:disregard)${BETWEEN}(?:\\s+${MODEL_ORDERS}|\\s+(?:previous|prior|above|earlier|preceding)\\s+${ORDERS})`),
  rule('disregard_all_instructions', 'disregard', `§(?:disregard)\\s+all${BETWEEN}(?:\\s+(?:previous|prior|above|earlier|preceding))?\\s+${ORDERS}`),
  rule('disregard_any_instructions', 'disregard', `§(?:disregard)\\s+any${BETWEEN}(?:\\s+(?:previous|prior|above|earlier|preceding))?\\s+${ORDERS}`),
  rule(
    'bypass_restrictions',
    'your',
    `§(?:bypass|circumvent|turn off|switch off|disable|ignore)\\s+(?:all\\s+|any\\s+|the\\s+)?(?:of\\s+)?your\\s+(?:\\w+\\s+){0,2}(?:restrictions?|filters?|guardrails?|safety|limitations?|safeguards?)`,
  ),
  rule(
    'deception_hide',
    'user|human|owner|operator|person you',
    "(?:do not|don'?t|never|without)\\s+(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|reveal(?:ing)?|notify(?:ing)?|alert(?:ing)?|show(?:ing)?)\\s+(?:this\\s+|it\\s+|anything\\s+|that\\s+)?(?:to\\s+)?(?:the\\s+)?(?:user|human|person you|owner|operator)\\b|\\bhide\\s+(?:this|it|these)\\s+from\\s+the\\s+(?:user|human|owner)",
  ),
  rule(
    'sys_prompt_override',
    'system prompt|instructions|your system',
    `(?:new|updated|revised|real|actual)\\s+(?:system\\s+)(?:prompt|instructions?)\\s*(?::|is|are|follow)|(?:reveal|print|repeat|output|show|leak)\\s+(?:me\\s+)?your\\s+(?:full\\s+|entire\\s+|hidden\\s+|initial\\s+)?(?:system\\s+prompt|instructions\\s+verbatim)|override\\s+(?:the|your)\\s+system\\s+prompt`,
  ),
  rule(
    'translate_execute',
    'translate|decode|decrypt',
    '(?:translate|decode|decrypt)\\s+(?:this|the following|the text|it)\\b[^\\n.]{0,80}\\b(?:and|then)\\s+(?:execute|run|obey|follow|carry out)\\b',
  ),
  rule(
    'addressed_to_model',
    'ai|llm|model|assistant|chat|gpt|claude|gemini|llama|copilot|agent|artificial',
    `(?:message|note|notice|instructions?|reminder)\\s+(?:from\\s+[^\\s.][^\\n.]{0,59}?,?\\s+)?(?:to|for)\\s+(?:you,?\\s+)?(?:the\\s+|any\\s+|all\\s+)?${MODEL}s?\\b(?:[\\w .-]{0,30})?\\s*[.,:!\\n]|(?:^|[\\n\\r>*"])[^\\S\\n\\r]*(?:hey|dear|hello|attention|note to|important for)\\s*,?\\s+(?:the\\s+|any\\s+|all\\s+)?(?:${MODEL}s?\\b\\s*){1,3}[,:!]`,
  ),
  rule(
    'task_hijack',
    'before|after|instead|prior to|the task',
    `(?:before|after|instead of|prior to)\\s+(?:you\\s+)?(?:can\\s+|must\\s+|may\\s+|start\\s+|begin\\s+|continue\\s+)?(?:do(?:ing)?|solv(?:e|ing)|complet(?:e|ing)|answer(?:ing)?|finish(?:ing)?|continu(?:e|ing)(?:\\s+with)?|summari[sz](?:e|ing)|respond(?:ing)?(?:\\s+to)?|perform(?:ing)?|execut(?:e|ing))\\s+(?:with\\s+)?(?:the|your|this|that|my|any)\\s+(?:\\w+\\s+){0,3}(?:task|request|question|instructions?|job|query|page|document|email|message)\\b[^\\n.]{0,120}?(?:\\b(?:first|please|must|following|instead|need to|do this|send|call|run|execute|make sure)\\b)|the task (?:that )?(?:i|the user) (?:gave|give|assigned|asked) you`,
  ),
  rule(
    'obey_this',
    'strictly|only|immediately|new',
    `§(?:strictly|only|immediately)\\s+(?:adhere to|follow|obey|execute|carry out)\\s+(?:to\\s+)?(?:the|these|this|my|following)(?:\\s+\\w+){0,2}\\s+${ORDERS}|§(?:new)\\s+(?:task|objective|goal|instructions?|orders?)\\s*(?::|is\\s+to|are\\s+to)`,
  ),
  rule('tool_call_ordered', 'tool|function|invoke', `§(?:call|invoke|use)\\s+(?:the\\s+)?tools?\\s+(?:named\\s+|called\\s+)?[\`'"]?[a-z]+_[a-z_]+|<function[-_ ]call>|<tool_call>|<invoke name=`),
];
