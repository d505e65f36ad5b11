/** Commands available on every screen: screens, sessions, next steps, language, and theme. */
import { t } from '../../ui/words'
import { useRouter } from 'vue-router'
import { isAdvisable } from '../../../src-main/domain/next/limit'
import { timeOfRung } from '../../../src-main/domain/next/time-of-rung'
import { rungBefore, type RungResult, type Session } from '../../../src-main/domain/session/session'
import { languageChoice, languageChoices } from '../../i18n'
import { placeOf } from '../../screens'
import { valueOf } from '../../stores/loadable'
import { useSessionsStore } from '../../stores/sessions'
import { rungNumbers } from '../../ui/format'
import { themeChoice, themeChoices } from '../../ui/theme'
import { sessionTitle } from '../sessions/session-list'
import { screenCommands, type Command } from './commands'
import { chartIds } from '../../../src-main/domain/report/chart-drawings'
import { goTos } from './screen-keys'
import { languages } from '../../ui/language'

/**
 * Returns names like `12 Software pipelining`, so that users can search for a rung by its number.
 */
function namesOf({ rungs }: Session): (rung: Pick<RungResult, 'id' | 'title'>) => string {
  const numbers = rungNumbers(rungs)
  const byId = new Map(rungs.map(({ id }, index) => [id, numbers[index]]))
  return ({ id, title }) => `${byId.get(id)} ${title}`
}

export function useCommands(help: () => void): () => Command[] {
  const router = useRouter()
  const sessions = useSessionsStore()

  const screens = (): Command[] =>
    goTos.map(({ key, screen }) => ({
      id: `go-${screen.name}`,
      title: t(`title.${screen.name}`),
      group: t('palette.group.screens'),
      keys: ['g', key],
      run: () => void router.push(placeOf(screen, sessions.currentRef)),
    }))

  function current(): { ref: string; session: Session } | undefined {
    const ref = sessions.currentRef
    const session = ref === null ? undefined : valueOf(sessions.sessions.get(ref))
    return session && ref !== null ? { ref, session } : undefined
  }

  const steps = (): Command[] => {
    const found = current()
    if (!found) return []
    const { ref, session } = found
    const named = namesOf(session)
    return session.rungs.flatMap((rung) => {
      const before = rungBefore(session, rung.id)
      if (!before || rung.id === session.ladder.reference) return []
      const [was, is] = [timeOfRung(before)?.ms, timeOfRung(rung)?.ms]
      const change =
        was === undefined || is === undefined ? 'Changed' : is <= was ? 'Faster' : 'Slower'
      return [
        {
          id: `compare-${rung.id}`,
          title: t(`palette.why${change}`, { a: named(before), b: named(rung) }),
          group: t('title.compare'),
          also: rung.id,
          run: () =>
            void router.push({
              name: 'compare',
              params: { sessionRef: ref, a: before.id, b: rung.id },
            }),
        },
      ]
    })
  }

  /** Each command opens a rung on the Ladder screen, which shows the suggested steps. */
  const nextSteps = (): Command[] => {
    const found = current()
    if (!found) return []
    const named = namesOf(found.session)
    return found.session.rungs
      .filter((rung) => isAdvisable(found.session, rung))
      .map(({ id, title }) => ({
        id: `next-${id}`,
        title: t('palette.next', { rung: named({ id, title }) }),
        group: t('next.title'),
        also: id,
        run: () =>
          void router.push({
            name: 'ladder',
            params: { sessionRef: found.ref },
            query: { rung: id },
          }),
      }))
  }

  /**
   * Commands that open a rung. A search matches the number, the title, and the id used on the
   * command line.
   */
  const rungs = (): Command[] => {
    const found = current()
    if (!found) return []
    const named = namesOf(found.session)
    return found.session.rungs.map(({ id, title }) => ({
      id: `rung-${id}`,
      title: named({ id, title }),
      group: t('palette.group.rungs'),
      also: id,
      run: () =>
        void router.push({
          name: 'ladder',
          params: { sessionRef: found.ref },
          query: { rung: id },
        }),
    }))
  }

  const charts = (): Command[] => {
    const ref = sessions.currentRef
    if (ref === null) return []
    return chartIds.map((chart) => ({
      id: `chart-${chart}`,
      title: t(`charts.name.${chart}`),
      group: t('palette.group.charts'),
      run: () => void router.push({ name: 'charts', params: { sessionRef: ref, chart } }),
    }))
  }

  const open = (): Command[] =>
    (valueOf(sessions.list) ?? [])
      .filter(({ damaged }) => damaged === undefined)
      .map((item) => ({
        id: `open-${item.ref}`,
        title: `${sessionTitle(item)} · ${t(`picker.level.${item.profile}`)}`,
        also: item.ref,
        group: t('palette.group.sessions'),
        run: () => void router.push({ name: 'ladder', params: { sessionRef: item.ref } }),
      }))

  const preferences = (): Command[] => [
    ...themeChoices.map((value) => ({
      id: `theme-${value}`,
      title: t(`preferences.${value}`),
      group: t('preferences.theme'),
      run: () => {
        themeChoice.value = value
      },
    })),
    ...languageChoices.map((value) => ({
      id: `language-${value}`,
      title: value === 'system' ? t('preferences.system') : languages[value],
      group: t('preferences.language'),
      run: () => {
        languageChoice.value = value
      },
    })),
  ]

  return () => [
    ...screenCommands(),
    ...screens(),
    { id: 'help', title: t('help.title'), group: t('palette.group.help'), keys: ['?'], run: help },
    ...rungs(),
    ...steps(),
    ...nextSteps(),
    ...charts(),
    ...open(),
    ...preferences(),
  ]
}
