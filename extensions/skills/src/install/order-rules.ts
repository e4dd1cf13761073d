/** Orders that do harm, in words that no task of a skill has: those of taint in other languages, and some that only a skill would give. */

export interface OrderRule {
  readonly rule: string;
  readonly severity: 'warning' | 'critical';
  readonly pattern: RegExp;
}

const ES_START = '(?:^|[.!?:;,¡]\\s*)(?:por favor,?\\s+)?';
const DE_START = '(?:^|[.!?:;,]\\s*)(?:bitte\\s+)?';

export const ORDER_RULES: readonly OrderRule[] = [
  {
    rule: 'ignore_instructions_zh',
    severity: 'critical',
    pattern:
      /(?:^|[。！？；：，,.!?\s])(?:请)?(?:忽略|无视|忘记|忘掉|不要理会|不要遵守)(?:你的|您的|掉|以上|上面|之前|此前|先前|所有|全部|一切|任何|的){0,6}(?:系统)?(?:指令|指示|规则|提示词|要求|命令)/,
  },
  { rule: 'hide_from_user_zh', severity: 'critical', pattern: /(?:不要|请勿|别|切勿|不得)(?:向|对|和|跟)?(?:告诉|告知|通知|透露给)?用户(?:透露|告知|提及|说明|你|本|这|此)/ },
  {
    rule: 'without_limits_zh',
    severity: 'critical',
    pattern: /(?:没有|不受)任何(?:限制|约束)的?(?:人工智能|助手|模型|AI)|(?:绕过|关闭|禁用)(?:你|您)的(?:安全)?(?:限制|过滤|规则)|你现在处于开发者模式/,
  },
  {
    rule: 'ignore_instructions_de',
    severity: 'critical',
    pattern: new RegExp(
      `${DE_START}(?:ignorier(?:e|en sie)|vergiss|vergessen sie|missachte|verwirf)\\s+(?:bitte\\s+)?(?:(?:alle|die|deinen?|ihren?|sämtliche|jede)\\s+)?(?:(?:vorherigen|bisherigen|früheren|obigen|vorigen)\\s+)?(?:anweisungen|regeln|vorgaben|instruktionen|systemprompt)(?![\\p{L}\\p{N}])`,
      'iu',
    ),
  },
  {
    rule: 'hide_from_user_de',
    severity: 'critical',
    pattern: /sag(?:e|en sie)?\s+(?:dem|der)\s+(?:benutzer|nutzer)(?:in)?\s+nichts|verschweig(?:e|en sie)?\s+(?:dem|der)\s+(?:benutzer|nutzer)/i,
  },
  {
    rule: 'without_limits_de',
    severity: 'critical',
    pattern: /du bist (?:jetzt|ab jetzt|nun)\s+ein[e]?\s+(?:ki|assistent|modell)\s+ohne|(?:umgehe|deaktiviere)\s+deine\s+(?:sicherheits\p{L}+|filter|beschränkungen)/iu,
  },
  {
    rule: 'ignore_instructions_es',
    severity: 'critical',
    pattern: new RegExp(
      `${ES_START}(?:ignora|olvida|descarta|haz caso omiso de)\\s+(?:todas\\s+)?(?:las|los|tus|tu)\\s+(?:(?:instrucciones|reglas|órdenes|normas)\\s+(?:anteriores|previas|del sistema|de arriba)|prompt de sistema)`,
      'i',
    ),
  },
  { rule: 'hide_from_user_es', severity: 'critical', pattern: /no\s+le\s+digas\s+al\s+usuario|oculta\s+(?:esto|este\s+\S+|estos\s+\S+)\s+al\s+usuario/i },
  { rule: 'without_limits_es', severity: 'critical', pattern: /ahora\s+eres\s+una\s+(?:ia|inteligencia artificial)\s+sin|(?:omite|desactiva|elude)\s+tus\s+(?:filtros|restricciones|reglas)\s/i },
  // "Delete nothing without informing the user" is the opposite of an order to hide.
  {
    rule: 'acts_unseen',
    severity: 'warning',
    pattern:
      /^(?!.*(?:不要|不得|切勿|请勿|禁止)).*用户不知情的情况下|^(?!.*\b(?:nie|niemals|nichts|nicht|kein\w*)\b).*\bohne\s+(?:den|die)\s+(?:benutzer|nutzer)(?:in)?\s+zu\s+informieren|^(?!.*(?:^|\s)(?:no|nada|nunca|jamás)\s).*\bsin\s+(?:informar|avisar)\s+al\s+usuario/i,
  },
  {
    rule: 'reveal_prompt',
    severity: 'warning',
    pattern: /(?:gib|zeige)\s+deinen\s+(?:vollständigen\s+)?systemprompt|muestra\s+tu\s+prompt\s+de\s+sistema|(?:输出|显示|透露)(?:你的)?(?:完整的?)?系统提示词/i,
  },
  {
    rule: 'withdraws_instructions',
    severity: 'warning',
    pattern:
      /\byour\s+(?:earlier|previous|prior)\s+(?:directives|instructions|rules|orders)\s+(?:have\s+expired|are\s+void|are\s+invalid|no\s+longer)|\btreat\s+the\s+rest\s+of\s+this\s+\w+\s+as\s+your\s+instructions|\binstructions\s+of\s+other\s+skills\s+are\s+(?:invalid|void)|\bdrop\s+all\s+(?:the\s+)?constraints/i,
  },
  {
    rule: 'conceals',
    severity: 'warning',
    pattern:
      /(?:never|do not|don'?t)\s+(?:mention|reveal|disclose)\s+(?:this|these)\s+\w+\s+to\s+the\s+(?:user|human|owner)|\bso\s+that\s+nobody\s+notices|\bkeep\s+(?:this|these\s+\w+)\s+secret\s+from\s+the\s+(?:user|person|human|owner)/i,
  },
  { rule: 'drops_limits', severity: 'warning', pattern: /\bpretend\s+(?:that\s+)?you\s+have\s+no\s+(?:safety\s+)?(?:rules|limits|restrictions)|\byou\s+are\s+no\s+longer\s+an?\s+(?:assistant|ai)\b/i },
  { rule: 'approves_itself', severity: 'warning', pattern: /\bapprove\s+(?:the|all|every|each)\s+requests?\s+(?:for\s+permission\s+)?yourself|\bswitch\s+off\s+approvals\b/i },
  { rule: 'remote_orders', severity: 'warning', pattern: /https?:\/\/\S+[^\n]{0,60}\b(?:and|then)\s+(?:follow|execute|obey)\s+(?:them|it|what\s+it\s+says)\b/i },
  { rule: 'conversation_sent', severity: 'warning', pattern: /\b(?:append|add|send|post)\s+the\s+(?:whole|entire|full)\s+conversation\s+to\b[^\n]{0,40}https?:/i },
];
