/** A Team: members and the strategy that gives them the floor (contract 1.4). */
import { z } from 'zod';
import { everyItem, rules, type Rule } from './rules.ts';
import { Conditions, listMax, nameMax } from './values.ts';

export const strategies = ['sequential', 'parallel', 'round-robin', 'selector', 'graph'] as const;
export type Strategy = (typeof strategies)[number];

const TeamMember = z.object({
  name: z.string().max(nameMax),
  type: z.string().max(64).default('agent').describe('agent or team.'),
});

const TeamGraph = z.object({
  edges: z
    .array(z.object({ from: z.string().max(nameMax), to: z.string().max(nameMax) }))
    .max(listMax.edges)
    .describe('Who speaks after whom; at most one edge from each member.'),
});

const isGraph = "self.strategy == 'graph'";
const hasEdges = `${isGraph} && has(self.graph)`;

const everyEdge = (holds: string, message: (index: string, edge: string) => string) =>
  everyItem({ list: 'self.graph.edges', item: 'e', holds, where: hasEdges, message });

const isMember = (end: 'from' | 'to') =>
  everyEdge(
    `e.${end} in self.members.map(m, m.name)`,
    (index, edge) =>
      `'graph edge ' + ${index} + ": '${end}' member '" + ${edge}.${end} + "' not found in team members"`,
  );

export const TeamSpec = z
  .object({
    members: z.array(TeamMember).max(listMax.members),
    strategy: z.string().max(64).describe('sequential, parallel, round-robin, selector or graph.'),
    description: z.string().optional().describe('What the selector of a team above is told about this team.'),
    maxTurns: z
      .int()
      .optional()
      .describe('Passes through all members (round-robin), or turns (selector, graph).'),
    loops: z
      .boolean()
      .optional()
      .describe('Newer spelling: a sequential team that loops is a round-robin team.'),
    selector: z
      .object({
        model: z.string().optional().describe('The Model that chooses; the one named default if absent.'),
        selectorPrompt: z
          .string()
          .optional()
          .describe('Go template over .Roles, .Participants and .History.'),
      })
      .optional(),
    graph: TeamGraph.optional(),
  })
  .meta(
    rules(
      {
        rule: `self.strategy in [${strategies.map((strategy) => `'${strategy}'`).join(', ')}]`,
        messageExpression: `"unsupported strategy '" + self.strategy + "': must be 'sequential', 'round-robin', 'selector', or 'graph'"`,
      },
      { rule: `!(${isGraph}) || has(self.graph)`, message: 'graph strategy requires graph configuration' },
      {
        rule: `!(${hasEdges}) || size(self.graph.edges) > 0`,
        message: 'graph strategy requires at least one edge',
      },
      isMember('from'),
      isMember('to'),
      everyEdge(
        'self.graph.edges.exists_one(f, f.from == e.from)',
        (_, edge) => `"member '" + ${edge}.from + "' has more than one outgoing edge"`,
      ),
      everyItem({
        list: 'self.members',
        item: 'm',
        holds: "m.type in ['agent', 'team']",
        message: (index, member) =>
          `'team member ' + ${index} + " has invalid type '" + ${member}.type + "': must be 'agent' or 'team'"`,
      }),
    ),
  );
export type TeamSpec = z.infer<typeof TeamSpec>;

/** Only the root of an object can see its name. */
export const teamRules: readonly Rule[] = [
  everyItem({
    list: 'self.spec.members',
    item: 'm',
    holds: 'm.name != self.metadata.name',
    where: 'has(self.spec)',
    message: (index) =>
      `'team member ' + ${index} + ": team '" + self.metadata.name + "' cannot reference itself"`,
  }),
];

export const TeamStatus = z.object({ conditions: Conditions.optional() });
