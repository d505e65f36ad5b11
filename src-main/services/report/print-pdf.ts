/**
 * Prints a report as PDF in two passes.
 *
 * A draft determines the page of each heading, and the second print puts these numbers in the table of contents. The
 * creation date is the session's, so the same session, browser and fonts yield the same bytes.
 */
import { placesInPdf, stablePdf, type PdfPrinter } from '../../adapters/print/chromium'
import type { ReportStage } from '../../contract/reports'
import { printPage, type PrintDocument } from './print-document'

export interface PdfTools {
  printPdf: PdfPrinter
  /** Called at each stage. */
  onStage?: ((stage: ReportStage) => void) | undefined
}

/** Prints a report. `madeOn`: an ISO date, of the report or of the session. */
export async function printPdfReport(
  document: PrintDocument,
  madeOn: string,
  { printPdf, onStage }: PdfTools,
): Promise<Uint8Array> {
  onStage?.('layout')
  const pages = placesInPdf(await printPdf(printPage(document), { draft: true }))
  onStage?.('print')
  return stablePdf(await printPdf(printPage(document, pages)), new Date(madeOn))
}
